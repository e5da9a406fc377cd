import type { Me } from '@vantage/contract';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { CheckForm } from '../form/CheckForm.tsx';
import { formOf } from '../form/forms.ts';
import { ago, plural } from '../format.ts';
import { ProbeMap } from '../map/ProbeMap.tsx';
import { Icon } from '../parts/icons.tsx';
import { Link, useService } from '../parts/router.tsx';
import { statusTone } from '../parts/status.ts';
import { useLoad } from '../parts/use-load.ts';
import { useProbes } from '../parts/use-probes.tsx';
import { forget, forgetAll, recentChecks } from '../recent.ts';

/** Start page: form, probes, and recent checks. */
export function HomePage(props: { readonly type: string | null; readonly host: string | null }): JSX.Element {
  const { client, path } = useService();
  const probes = useProbes();
  const me = useLoad((signal) => client.me({ signal }));
  useEffect(() => {
    document.title = 'Vantage: network diagnostics from several places';
  }, []);
  const entries = Object.entries(probes ?? {});
  const online = entries.filter(([, { status }]) => status !== 'offline');
  const onMap = entries.map(([id, probe]) => ({
    id,
    name: `${probe.name}: ${probe.status}`,
    latitude: probe.latitude,
    longitude: probe.longitude,
    tone: statusTone(probe.status),
  }));
  return (
    <main class="page home">
      <div class="hero">
        <h1>Is it them, is it you, and where does it break?</h1>
        <p class="lead">
          {entries.length === 0
            ? 'One check, measured from several places at once.'
            : online.length === 0
              ? 'No probe is online now.'
              : `One check, measured from ${plural(online.length, 'probe')} at once.`}
        </p>
        <CheckForm
          type={formOf(props.type)?.type}
          host={props.host ?? undefined}
          hasFocus={matchMedia('(pointer: fine)').matches}
        />
      </div>
      <ProbeMap probes={onMap} />
      <p class="unseen">
        <Link to="/status">{entries.length === 0 ? 'The probes' : `${plural(online.length, 'probe')} online`}</Link>
      </p>
      <div class="below">
        <Recent />
        <You me={me.value} isUnknown={me.error !== undefined} />
        <section class="card api" aria-labelledby="api-title">
          <h2 id="api-title">Without this page</h2>
          <p>
            Everything here is a public HTTP API: start a check with one POST, read it with one GET, or follow it as it
            runs.
          </p>
          <p>
            <a href={path('/docs')}>API reference</a> · <a href={path('/openapi.json')}>OpenAPI</a>
          </p>
        </section>
      </div>
    </main>
  );
}

function You(props: { readonly me: Me | undefined; readonly isUnknown: boolean }): JSX.Element {
  const { me, isUnknown } = props;
  const network = [me?.asn, me?.isp ?? me?.org].filter((part) => typeof part === 'string' && part !== '').join(' ');
  const place = [me?.city, me?.country].filter((part) => typeof part === 'string' && part !== '').join(', ');
  const name = me?.hostnameVerified === false ? `${me.hostname} (does not lead back)` : me?.hostname;
  return (
    <section class="card you" aria-labelledby="you-title">
      <h2 id="you-title">You</h2>
      {me === undefined ? (
        <p class="note">{isUnknown ? 'Your address cannot be looked up now.' : 'Looking up your address'}</p>
      ) : (
        <>
          <p class="address-text">{me.ip}</p>
          <p class="note">
            {[name, network, place].filter((part) => typeof part === 'string' && part !== '').join(' · ')}
          </p>
          <p>
            <Link to={`/?type=ping&host=${encodeURIComponent(me.ip)}`}>Ping yourself</Link> ·{' '}
            <Link to={`/?type=traceroute&host=${encodeURIComponent(me.ip)}`}>Trace the way to you</Link>
          </p>
        </>
      )}
    </section>
  );
}

function Recent(): JSX.Element {
  const [checks, setChecks] = useState(recentChecks);
  return (
    <section class="card recent" aria-labelledby="recent-title">
      <header class="card-head">
        <h2 id="recent-title">Your recent checks</h2>
        {checks.length === 0 ? null : (
          <button
            type="button"
            class="quiet"
            onClick={() => {
              forgetAll();
              setChecks([]);
            }}
          >
            Forget all
          </button>
        )}
      </header>
      {checks.length === 0 ? (
        <p class="note">The checks that you start are listed here. The list stays in this browser.</p>
      ) : (
        <ul>
          {checks.slice(0, 8).map(({ id, type, host, at, verdict }) => (
            <li key={id}>
              <Link to={`/c/${id}`}>
                <span class={`verdict-dot ${verdict ?? ''}`} aria-hidden="true" />
                <span class="type">{type}</span>
                <span class="target">{host}</span>
                {verdict === undefined ? null : <span class="note">{verdict}</span>}
                <span class="note when">{ago(at, Date.now())}</span>
              </Link>
              <button
                type="button"
                class="quiet"
                aria-label={`Forget ${type} ${host}`}
                onClick={() => {
                  forget(id);
                  setChecks(recentChecks());
                }}
              >
                <Icon name="cross" />
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
