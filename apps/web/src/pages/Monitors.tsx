import type { MonitorInList } from '@vantage/contract';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { Age } from '../clock/Age.tsx';
import { clockTime, compareNames, plural } from '../format.ts';
import { nameOfMonitored, probeTones, stateTones } from '../monitor/monitor-text.ts';
import { sentenceOf } from '../monitor/monitor-sentence.ts';
import { ListHead, Seek } from './list-page.tsx';
import { Link, useService } from '../parts/router.tsx';
import { Badge } from '../parts/tone.tsx';
import { useLoad } from '../parts/use-load.ts';
import { emptyLocationsText } from '../words.ts';
import '../style/monitors.css';

const EVERY_MS = 15_000;
/** Number of cards displayed first if the list is long, and added at each press of the button. */
const FIRST = 20;
/** Maximum length of a list that is at first displayed in full. */
const MANY = 30;

/** All monitors, bad ones first. */
export function MonitorsPage(): JSX.Element {
  const { client, path } = useService();
  const { value: monitors, error } = useLoad((signal) => client.monitors({ signal }), EVERY_MS);
  useEffect(() => {
    document.title = 'Monitors · Vantage';
  }, []);
  const all = Object.values(monitors ?? {}).toSorted((a, b) => rankOf(a) - rankOf(b) || compareNames(a.name, b.name));
  const [sought, seek] = useState('');
  const shown = all.filter((monitor) => textOf(monitor).includes(sought.trim().toLowerCase()));
  const [wanted, setWanted] = useState(FIRST);
  const drawn = shown.length <= Math.max(MANY, wanted) ? shown.length : wanted;
  return (
    <main class="page">
      <ListHead title="Monitors" counts={monitors === undefined ? undefined : countsOf(all)} error={error} />
      {monitors === undefined || all.length > 0 ? null : (
        <p class="note">
          There are no monitors. “Repeat this” on a check makes one, and so does the <a href={path('/docs')}>API</a>,
          both with an API key.
        </p>
      )}
      {all.length <= MANY ? null : (
        <Seek
          label="Find a monitor"
          placeholder="Name, target, state …"
          value={sought}
          onSeek={seek}
          found={plural(shown.length, 'monitor')}
        />
      )}
      <ul class="monitor-list">
        {shown.slice(0, drawn).map((monitor) => (
          <li key={monitor.name} class="card">
            <MonitorCard monitor={monitor} isOneOfMany={all.length > MANY} />
          </li>
        ))}
      </ul>
      {drawn === shown.length ? null : (
        <button type="button" class="quiet rest" onClick={() => setWanted(wanted + FIRST)}>
          Show {Math.min(FIRST, shown.length - drawn)} more
        </button>
      )}
    </main>
  );
}

function countsOf(all: readonly MonitorInList[]): string {
  if (all.length === 0) return 'None yet';
  const count = (state: string): number => all.filter((monitor) => monitor.state === state).length;
  return `${count('bad')} bad, ${count('ok')} ok, ${count('unknown')} unknown`;
}

function rankOf({ state }: MonitorInList): number {
  return ['bad', 'unknown', 'ok'].indexOf(state);
}

function textOf(monitor: MonitorInList): string {
  const { name, state, owner, check } = monitor;
  return [name, state, owner, String(check['type']), String(check['host'])].join(' ').toLowerCase();
}

function MonitorCard(props: { readonly monitor: MonitorInList; readonly isOneOfMany: boolean }): JSX.Element {
  const { monitor, isOneOfMany } = props;
  const { name, state, since, alarmSince, every, lastPathChangeAt } = monitor;
  const { kind, target } = nameOfMonitored(monitor);
  const emptyText = emptyLocationsText(monitor);
  return (
    <>
      <header>
        <h2>
          <Link to={`/m/${name}`}>{name}</Link>
        </h2>
        <Badge tone={stateTones[state] ?? 'mute'}>{state}</Badge>
        {since === null ? null : (
          <span class="note" title={clockTime(since)}>
            since <Age of={since} />
          </span>
        )}
        {alarmSince === null || state === 'bad' ? null : (
          <span class="note">
            alarm on since <Age of={alarmSince} />
          </span>
        )}
        {(lastPathChangeAt ?? null) === null ? null : (
          <span class="note" title={clockTime(lastPathChangeAt)}>
            path changed <Age of={lastPathChangeAt!} />
          </span>
        )}
        <span class="note what">
          {kind} {target}, every {every}
        </span>
      </header>
      <p class="sentence">{sentenceOf(monitor)}</p>
      {emptyText === undefined ? null : <p class="note">{emptyText}</p>}
      <ProbeStates probes={monitor.probes} isShort={isOneOfMany} />
    </>
  );
}

/** The state at each probe; in the short form, those that are ok and not flapping are only counted. */
function ProbeStates(props: { readonly probes: MonitorInList['probes']; readonly isShort: boolean }): JSX.Element {
  const all = Object.entries(props.probes);
  const named = props.isShort ? all.filter(([, { state, flapping }]) => state !== 'ok' || flapping) : all;
  const others = all.length - named.length;
  return (
    <ul class="probe-states">
      {named.map(([probe, { state, flapping }]) => (
        <li key={probe}>
          <Badge tone={probeTones[state] ?? 'mute'}>
            {probe}
            {state === 'ok' ? '' : `, ${state}`}
            {flapping ? ', flapping' : ''}
          </Badge>
        </li>
      ))}
      {others === 0 ? null : (
        <li>
          <Badge tone={probeTones['ok']!}>
            {named.length === 0 ? plural(others, 'probe') : plural(others, 'other probe')}, ok
          </Badge>
        </li>
      )}
    </ul>
  );
}
