import type { Me } from '@vantage/contract';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { CheckForm } from '../form/CheckForm.tsx';
import { formOf, forms } from '../form/forms.ts';
import { selectionOf, type Selection } from '../form/use-selection.ts';
import { listOf, strangersIn, valuesFromQuery } from '../form/values.ts';
import { plural } from '../format.ts';
import { ProbeMap } from '../map/ProbeMap.tsx';
import { Link, useService } from '../parts/router.tsx';
import { statusTone } from '../parts/status.ts';
import { useLoad } from '../parts/use-load.ts';
import { useProbes } from '../parts/use-probes.tsx';
import { Recent } from './recent/Recent.tsx';

/** Start page: the form, the map of the probes, and cards such as that of the recent checks. */
export function HomePage(props: { readonly query: string }): JSX.Element {
  const query = new URLSearchParams(props.query);
  const form = formOf(query.get('type'));
  const { client } = useService();
  const probes = useProbes();
  const initial = valuesFromQuery(form ?? forms[0]!, query);
  const [selection, select] = useState<Selection>(() =>
    selectionOf(form ?? forms[0]!, query.get('host') ?? '', initial),
  );
  const [picked, pick] = useState<readonly string[]>();
  const chosen = [...new Set(listOf(selection.probes))];
  const toggle = (id: string): void =>
    pick(chosen.includes(id) ? chosen.filter((other) => other !== id) : [...chosen, id]);
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
    isFaint: chosen.length > 0 && !chosen.includes(id),
  }));
  return (
    <main class="page home">
      <div class="hero">
        <h1>Is it them, is it you, and where does it break?</h1>
        <p class={online.length > DEFAULT_LIMIT ? 'lead has-choice' : 'lead'}>
          {entries.length === 0 ? 'One check, measured from several places at once.' : leadOf(online.length, selection)}
        </p>
        <CheckForm
          type={form?.type}
          host={query.get('host') ?? undefined}
          initial={initial}
          note={noteOf(query)}
          isInAddress
          probes={picked}
          onSelect={select}
          hasFocus={matchMedia('(pointer: fine)').matches}
        />
      </div>
      <ProbeMap probes={onMap} onChoose={toggle} />
      <Chosen ids={chosen} onClear={() => pick([])} />
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

/** The unknown type and the parameters of a link that the page leaves out, in sentences; undefined without any. */
function noteOf(query: URLSearchParams): string | undefined {
  const type = query.get('type');
  const form = formOf(type) ?? forms[0]!;
  const names = strangersIn(form, query).map((name) => `“${name.slice(0, 40)}”`);
  const notes = [];
  if (type !== null && formOf(type) === undefined)
    notes.push(`The link is for a check of the type “${type.slice(0, 40)}”, which does not exist.`);
  if (names.length > 0)
    notes.push(
      `The link has ${listed(names)}, which a ${form.type} check does not have: ${names.length === 1 ? 'it is' : 'they are'} left out.`,
    );
  return notes.length === 0 ? undefined : notes.join(' ');
}

function listed(names: readonly string[]): string {
  return names.length === 1 ? names[0]! : `${names.slice(0, -1).join(', ')} and ${names.at(-1)!}`;
}

/** The ids of the chosen probes, since the map has only pins. */
function Chosen(props: { readonly ids: readonly string[]; readonly onClear: () => void }): JSX.Element | null {
  if (props.ids.length === 0) return null;
  return (
    <p class="note chosen" role="status">
      From {props.ids.join(', ')}{' '}
      <button type="button" class="quiet" onClick={props.onClear}>
        Any probes
      </button>
    </p>
  );
}

/** Maximum number of probes of a check without `limit` and `probes`. */
const DEFAULT_LIMIT = Number(forms[0]!.selection['limit']!.default);

/** The probes of a check as the form selects them; if more are online than it uses, also how to choose others. */
function leadOf(online: number, { probes, locations, limit, isPair }: Selection): string {
  if (online === 0) return 'No probe is online now.';
  if (isPair) return 'One check, measured between two probes, from each to the other.';
  const measured = 'One check, measured from';
  const chosen = new Set(listOf(probes)).size;
  if (chosen > 0) return `${measured} ${atOnce(chosen, 'chosen probe')}`;
  const most = /^[1-9]\d*$/.test(limit.trim()) ? Number(limit) : DEFAULT_LIMIT;
  if (listOf(locations).length > 0) {
    const matching = 'of the probes that match the options';
    return most === 1 ? `${measured} one ${matching}.` : `${measured} up to ${most} ${matching}, at once.`;
  }
  if (online <= most) return `${measured} ${atOnce(online, 'probe')}`;
  const some = most === 1 ? 'one' : most;
  const how = most === 1 ? '' : ' at once, across networks and countries';
  return `${measured} ${some} of ${plural(online, 'probe')}${how}. The map and the options choose others.`;
}

/** End of the sentence about the probes: `one probe.` or `3 probes at once.` */
function atOnce(count: number, noun: string): string {
  return count === 1 ? `one ${noun}.` : `${plural(count, noun)} at once.`;
}

/** Card with links to the API reference. */
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
