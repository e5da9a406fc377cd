import type { Me } from '@vantage/contract';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { CheckForm } from '../form/CheckForm.tsx';
import { formOf, forms } from '../form/forms.ts';
import { valuesFromQuery } from '../form/values.ts';
import { plural } from '../format.ts';
import { ProbeMap } from '../map/ProbeMap.tsx';
import { Link, useService } from '../parts/router.tsx';
import { statusTone } from '../parts/status.ts';
import { useLoad } from '../parts/use-load.ts';
import { useProbes } from '../parts/use-probes.tsx';
import { Recent } from './Recent.tsx';

/** Start page: form, probes, and recent checks. */
export function HomePage(props: { readonly query: string }): JSX.Element {
  const query = new URLSearchParams(props.query);
  const form = formOf(query.get('type'));
  const { client } = useService();
  const probes = useProbes();
  const [chosen, choose] = useState<readonly string[]>();
  const toggle = (id: string): void =>
    choose((before = []) => (before.includes(id) ? before.filter((other) => other !== id) : [...before, id]));
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
    isFaint: chosen !== undefined && chosen.length > 0 && !chosen.includes(id),
  }));
  return (
    <main class="page home">
      <div class="hero">
        <h1>Is it them, is it you, and where does it break?</h1>
        <p class={online.length > DEFAULT_LIMIT ? 'lead has-choice' : 'lead'}>
          {entries.length === 0 ? 'One check, measured from several places at once.' : leadOf(online.length, chosen)}
        </p>
        <CheckForm
          type={form?.type}
          host={query.get('host') ?? undefined}
          initial={valuesFromQuery(form ?? forms[0]!, query)}
          probes={chosen}
          hasFocus={matchMedia('(pointer: fine)').matches}
        />
      </div>
      <ProbeMap probes={onMap} onChoose={toggle} />
      {chosen === undefined || chosen.length === 0 ? null : (
        <p class="note chosen" role="status">
          From {chosen.join(', ')}{' '}
          <button type="button" class="quiet" onClick={() => choose([])}>
            Any probes
          </button>
        </p>
      )}
      <p class="unseen">
        <Link to="/status">{entries.length === 0 ? 'The probes' : `${plural(online.length, 'probe')} online`}</Link>
      </p>
      <div class="home-cards">
        <Recent />
        <You me={me.value} isUnknown={me.error !== undefined} />
        <WithoutPage />
      </div>
    </main>
  );
}

/** Number of probes that a check without a selection has. */
const DEFAULT_LIMIT = Number(forms[0]!.selection['limit']!.default);

/** The number of probes of a check; if more are online than it uses by default, also how they are selected. */
function leadOf(online: number, chosen: readonly string[] = []): string {
  if (online === 0) return 'No probe is online now.';
  const measured = 'One check, measured from';
  if (chosen.length > 0) return `${measured} ${atOnce(chosen.length, 'chosen probe')}`;
  if (online <= DEFAULT_LIMIT) return `${measured} ${atOnce(online, 'probe')}`;
  return `${measured} ${DEFAULT_LIMIT} of ${plural(online, 'probe')} at once, in different networks and countries. The map and the options choose others.`;
}

/** `at once` only of several. */
function atOnce(count: number, noun: string): string {
  return count === 1 ? `one ${noun}.` : `${plural(count, noun)} at once.`;
}

/** The API, for those who want no page. */
function WithoutPage(): JSX.Element {
  const { path } = useService();
  return (
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
