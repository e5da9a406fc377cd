import type { MonitorInList } from '@vantage/contract';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';

import { faultText } from '../faults.ts';
import { ago, clockTime, compareNames } from '../format.ts';
import { nameOfMonitored, probeTones, stateTones } from '../monitor/monitor-text.ts';
import { Link, useService } from '../parts/router.tsx';
import { Badge } from '../parts/tone.tsx';
import { useLoad } from '../parts/use-load.ts';
import '../style/monitors.css';

const EVERY_MS = 15_000;

/** All monitors, bad ones first. */
export function MonitorsPage(): JSX.Element {
  const { client, path } = useService();
  const { value: monitors, error } = useLoad((signal) => client.monitors({ signal }), EVERY_MS);
  useEffect(() => {
    document.title = 'Monitors · Vantage';
  }, []);
  const all = Object.values(monitors ?? {}).toSorted((a, b) => rankOf(a) - rankOf(b) || compareNames(a.name, b.name));
  const count = (state: string): number => all.filter((monitor) => monitor.state === state).length;
  return (
    <main class="page">
      <div class="page-head">
        <h1>Monitors</h1>
        <p class="lead">
          {monitors === undefined
            ? error === undefined
              ? 'Loading'
              : faultText(error)
            : `${count('bad')} bad, ${count('ok')} ok, ${count('unknown')} unknown`}
          {monitors === undefined || error === undefined
            ? ''
            : '. This list is not up to date: the service did not answer.'}
        </p>
      </div>
      {monitors === undefined || all.length > 0 ? null : (
        <p class="note">
          There are no monitors. “Repeat this” on a check makes one, and so does the <a href={path('/docs')}>API</a>,
          both with an API key.
        </p>
      )}
      <ul class="monitor-list">
        {all.map((monitor) => (
          <li key={monitor.name} class="card">
            <MonitorCard monitor={monitor} />
          </li>
        ))}
      </ul>
    </main>
  );
}

function rankOf({ state }: MonitorInList): number {
  return ['bad', 'unknown', 'ok'].indexOf(state);
}

function MonitorCard({ monitor }: { readonly monitor: MonitorInList }): JSX.Element {
  const { name, state, since, headline, every, probes } = monitor;
  const { kind, target } = nameOfMonitored(monitor);
  return (
    <>
      <header>
        <h2>
          <Link to={`/m/${name}`}>{name}</Link>
        </h2>
        <Badge tone={stateTones[state] ?? 'mute'}>{state}</Badge>
        {since === null ? null : (
          <span class="note" title={clockTime(since)}>
            since {ago(since, Date.now())}
          </span>
        )}
        <span class="note what">
          {kind} {target}, every {every}
        </span>
      </header>
      <p class="sentence">{headline ?? 'It has not run yet.'}</p>
      <ul class="probe-states">
        {Object.entries(probes).map(([probe, { state: at, flapping }]) => (
          <li key={probe}>
            <Badge tone={probeTones[at] ?? 'mute'}>
              {probe}
              {at === 'ok' ? '' : `, ${at}`}
              {flapping ? ', flapping' : ''}
            </Badge>
          </li>
        ))}
      </ul>
    </>
  );
}
