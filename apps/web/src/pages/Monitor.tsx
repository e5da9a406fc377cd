import type { Monitor, Summary } from '@vantage/contract';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { ConnectionNote } from '../connection/ConnectionNote.tsx';
import type { ConnectionProblem } from '../connection/connection-problem.ts';
import { Age } from '../clock/Age.tsx';
import { faultText } from '../faults.ts';
import { clockTime } from '../format.ts';
import { agreementText, alarmText, nameOfMonitored, stateTones } from '../monitor/monitor-text.ts';
import { sentenceOf } from '../monitor/monitor-sentence.ts';
import { PathChanges } from '../monitor/PathChanges.tsx';
import { ProbeRuns } from '../monitor/ProbeRuns.tsx';
import { Runs } from '../monitor/Runs.tsx';
import { useMonitor } from '../monitor/use-monitor.ts';
import { Announce } from '../parts/announce.tsx';
import { Facts } from '../parts/facts.tsx';
import { Link, useRouter } from '../parts/router.tsx';
import { Badge } from '../parts/tone.tsx';
import { Failed, Loading } from './no-check.tsx';
import { emptyLocationsText } from '../words.ts';
import '../style/monitors.css';

/** One monitor, live: its state and sentence first, then each probe over the last runs. */
export function MonitorPage({ name }: { readonly name: string }): JSX.Element {
  const { service } = useRouter();
  const view = useMonitor(service.client, name);
  useEffect(() => {
    document.title = `${name} · Vantage`;
  }, [name]);
  if (view.kind === 'gone') return <Gone name={name} />;
  if (view.kind === 'failed') return <Failed what="monitor" message={view.message} />;
  if (view.kind === 'loading') return <Loading what="monitor" connectionProblem={view.connectionProblem} />;
  return <Shown monitor={view.monitor} connectionProblem={view.connectionProblem} />;
}

function Gone({ name }: { readonly name: string }): JSX.Element {
  return (
    <main class="page plain">
      <h1>No such monitor</h1>
      <p class="lead">There is no monitor with the name {name}, or it was removed.</p>
      <p>
        <Link to="/m">All monitors</Link>
      </p>
    </main>
  );
}

function Shown(props: {
  readonly monitor: Monitor;
  readonly connectionProblem: ConnectionProblem | undefined;
}): JSX.Element {
  const { monitor, connectionProblem } = props;
  const { name, state, since, alarmSince, every, owner } = monitor;
  const { kind, target, details } = nameOfMonitored(monitor);
  const sentence = sentenceOf(monitor);
  const emptyText = emptyLocationsText(monitor);
  return (
    <main class="page monitor">
      <div class="result-head">
        <h1>
          <span class="type">Monitor</span> {name}
        </h1>
        <p class="note">
          {kind} {target}
          {details === '' ? '' : ` · ${details}`} · every {every}
        </p>
        {owner === 'api' ? <Remove name={name} /> : null}
      </div>
      <section class="card" aria-label="State">
        <p class="verdict-line">
          <span class={`verdict-word ${stateTones[state] ?? 'mute'}`}>
            <Badge tone={stateTones[state] ?? 'mute'}>{state}</Badge>
          </span>
          {since === null ? null : (
            <span class="agree">
              since {clockTime(since)} (<Age of={since} />)
            </span>
          )}
        </p>
        <p class="headline">{sentence}</p>
        {emptyText === undefined ? null : (
          <p class="note">{emptyText}: it runs from the other locations until one is online there.</p>
        )}
        {monitor.tracerouteId === null ? null : (
          <Breaks key={monitor.tracerouteId} id={monitor.tracerouteId} parting={monitor.parting} />
        )}
        <Facts
          facts={[
            ['Agreement at the last tick', agreementText(monitor)],
            ['Bad when these fail', alarmText(monitor)],
            ['Alarm', alarmSince === null ? 'off' : `on since ${clockTime(alarmSince)}`],
            ['Next tick', clockTime(monitor.nextTickAt)],
            ['Defined', owner === 'file' ? 'in the monitors file' : 'over the API'],
          ]}
        />
        {connectionProblem === undefined ? null : <ConnectionNote connectionProblem={connectionProblem} />}
      </section>
      <ProbeRuns monitor={monitor} />
      <PathChanges monitor={monitor} />
      <Runs runs={monitor.runs} />
      <Announce text={`${name} is ${state}. ${sentence}`} />
    </main>
  );
}

/** The outcome of the traceroute that ran when the monitor turned bad, and a link to it. */
function Breaks({ id, parting }: { readonly id: string; readonly parting: string | null }): JSX.Element {
  const { client } = useRouter().service;
  const [summary, setSummary] = useState<Summary>();
  useEffect(() => {
    const ended = new AbortController();
    // Waits up to 25 seconds for the completion of the traceroute. If it cannot be read, its headline is not shown.
    client
      .results(id, { waitSeconds: 25, signal: ended.signal })
      .then(() => client.summary(id, { signal: ended.signal }))
      .then(setSummary, () => undefined);
    return () => ended.abort();
  }, [client, id]);
  return (
    <p class="breaks">
      {parting ??
        (summary === undefined ? 'Paths when it turned bad:' : `Paths when it turned bad: ${summary.headline}`)}{' '}
      <Link to={`/c/${id}`}>the traceroute</Link>
    </p>
  );
}

/** A button that removes the monitor when it is pressed twice; nothing without an API key. */
function Remove({ name }: { readonly name: string }): JSX.Element | null {
  const { service, go } = useRouter();
  const [isAsked, ask] = useState(false);
  const [fault, setFault] = useState('');
  if (service.keys.key() === undefined) return null;
  const remove = async (): Promise<void> => {
    try {
      await service.client.deleteMonitor(name);
      go('/m');
    } catch (error) {
      setFault(faultText(error));
    }
  };
  return (
    <p class="remove">
      <button type="button" class="quiet" onClick={() => (isAsked ? void remove() : ask(true))}>
        {isAsked ? 'Remove it with its runs' : 'Remove'}
      </button>
      <span class="error" role="alert">
        {fault}
      </span>
    </p>
  );
}
