import type { Agent, Probe } from '@vantage/contract';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { Age } from '../clock/Age.tsx';
import { compareNames, placeOf, plural } from '../format.ts';
import { ProbeMap } from '../map/ProbeMap.tsx';
import { ListHead, Seek } from './list-page.tsx';
import { useService } from '../parts/router.tsx';
import { statusTone } from '../parts/status.ts';
import { Badge } from '../parts/tone.tsx';
import { useGrowing } from '../parts/use-growing.ts';
import { useLoad } from '../parts/use-load.ts';

const EVERY_MS = 15_000;
/** Number of cards displayed first if the list is long. */
const FIRST = 18;
/** Maximum length of a list that is at first displayed in full. */
const MANY = 24;
const urgency: readonly Probe['status'][] = ['degraded', 'offline', 'healthy'];

/** All probes with their status, those that need attention first. */
export function ProbesPage(): JSX.Element {
  const { client } = useService();
  const { value: probes, error } = useLoad((signal) => client.probes({ signal }), EVERY_MS);
  // A coordinator of an earlier release has no list of agents.
  const { value: agents } = useLoad((signal) => client.agents({ signal }), EVERY_MS);
  const [sought, seek] = useState('');
  useEffect(() => {
    document.title = 'Probes · Vantage';
  }, []);
  const entries = Object.entries(probes ?? {}).toSorted(
    ([a, one], [b, other]) => urgency.indexOf(one.status) - urgency.indexOf(other.status) || compareNames(a, b),
  );
  const shown = entries.filter(([id, probe]) => textOf(id, probe).includes(sought.trim().toLowerCase()));
  const [isWanted, setWanted] = useState(false);
  const isComplete = isWanted || shown.length <= MANY;
  const drawn = useGrowing(isComplete ? shown.length : FIRST, FIRST);
  const count = (status: string): number => entries.filter(([, probe]) => probe.status === status).length;
  return (
    <main class="page">
      <ListHead
        title="Probes"
        counts={
          probes === undefined
            ? undefined
            : `${count('healthy')} healthy, ${count('degraded')} degraded, ${count('offline')} offline`
        }
        error={error}
      />
      <ProbeMap
        probes={shown.map(([id, probe]) => ({
          id,
          name: `${probe.name}: ${probe.status}`,
          latitude: probe.latitude,
          longitude: probe.longitude,
          tone: statusTone(probe.status),
          label: id,
        }))}
      />
      <Seek
        label="Find a probe"
        placeholder="Country, network, tag …"
        value={sought}
        onSeek={seek}
        found={probes === undefined ? '' : plural(shown.length, 'probe')}
      />
      <ul class="probe-list">
        {shown.slice(0, drawn).map(([id, probe]) => (
          <li key={id} class="card">
            <ProbeCard id={id} probe={probe} agent={agents?.[id]} />
          </li>
        ))}
      </ul>
      {isComplete ? null : (
        <button type="button" class="quiet rest" onClick={() => setWanted(true)}>
          Show all {shown.length} probes
        </button>
      )}
    </main>
  );
}

function ProbeCard(props: {
  readonly id: string;
  readonly probe: Probe;
  readonly agent: Agent | undefined;
}): JSX.Element {
  const { id, probe, agent } = props;
  const { capabilities, load } = probe;
  const can = [
    capabilities?.ipv4 === true ? 'IPv4' : undefined,
    capabilities?.ipv6 === true ? 'IPv6' : undefined,
    ...(capabilities?.types ?? []),
    capabilities?.screenshot === true ? 'screenshot' : undefined,
  ].filter((word) => word !== undefined);
  return (
    <>
      <header>
        <h2>{id}</h2>
        <Badge tone={statusTone(probe.status)}>{probe.status}</Badge>
      </header>
      <p>{probe.name}</p>
      <p class="note">
        {placeOf(probe)} · {probe.isp} {probe.asNumber}
      </p>
      {probe.reason === null ? null : <p class="reason">{probe.reason}</p>}
      <p class="can">
        {can.map((word) => (
          <span key={word}>{word}</span>
        ))}
      </p>
      <footer class="note">
        {probe.lastSeen === null ? (
          'never seen'
        ) : (
          <>
            seen <Age of={probe.lastSeen} />
          </>
        )}
        {load === null ? '' : ` · ${load.running} of ${load.capacity} jobs`}
        {probe.version === null ? '' : ` · ${probe.version}`}
        {agent === undefined ? '' : agentText(agent)}
      </footer>
    </>
  );
}

/** Transport of an agent as text, and its state if it is neither connected nor offline. */
function agentText({ transport, state }: Agent): string {
  const by = transport === null ? '' : ` · by ${transport === 'redis' ? 'Redis' : 'gateway'}`;
  return state === 'connected' || state === 'offline' ? by : `${by} · ${agentStateNames[state]}`;
}

const agentStateNames: Readonly<Record<Exclude<Agent['state'], 'connected' | 'offline'>, string>> = {
  invited: 'invited',
  waiting: 'waits for approval',
  suspended: 'suspended',
  copied: 'key copied',
  refused: 'refused',
};

function textOf(id: string, probe: Probe): string {
  const { name, datacenter, isp, asNumber, tags, status } = probe;
  return [id, name, datacenter, placeOf(probe), isp, asNumber, status, ...tags].join(' ').toLowerCase();
}
