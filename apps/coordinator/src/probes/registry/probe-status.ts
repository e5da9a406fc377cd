import type { Agent, Heartbeat, Probe, ProbeRecord } from '@vantage/contract';

import type { Offer } from '../offers.ts';
import { accessFault, NO_ACCESS, type AgentAccess } from '../enrolment/agent-access.ts';

/** A probe as known to the coordinator: its record and the last heartbeat of its agent. */
export interface KnownProbe {
  readonly record: ProbeRecord;
  /** True if there is a heartbeat that has not expired, valid or not. */
  readonly alive: boolean;
  /** Undefined if there is no valid one. */
  readonly heartbeat: Heartbeat | undefined;
  /** Time of the newest heartbeat, milliseconds since the epoch by the clock of Redis. */
  readonly lastSeenMs: number | undefined;
  /** Number of waiting jobs. */
  readonly waiting?: number;
  /** Number of waiting jobs and of those that the agent has taken; undefined for an agent at a gateway or offline. */
  readonly queued?: number | undefined;
  /** True if the probe's agent sends heartbeats but takes no jobs. */
  readonly takesNoJobs?: boolean;
  /**
   * True for a while after the probe was offline (`isJustBack`), so that an unstable probe does not count as healthy.
   */
  readonly justBack?: boolean;
  /** Why the probe's agent is suspended; undefined if it is not. */
  readonly switchedOff?: string | undefined;
  /** Why Redis accepts no results, which affects every probe. */
  readonly storeFault?: string | undefined;
  /** Enrolment of the probe's agent; undefined stands for `NO_ACCESS`. */
  readonly access?: AgentAccess;
}

/** Probes are listed for this long after their last heartbeat. */
const LISTED_FOR_MS = 24 * 60 * 60 * 1_000;

/** True for a probe that was seen in the last 24 hours, was never seen, or is suspended. */
export function isListed({ alive, lastSeenMs, switchedOff }: KnownProbe, nowMs: number): boolean {
  return alive || switchedOff !== undefined || lastSeenMs === undefined || nowMs - lastSeenMs <= LISTED_FOR_MS;
}

/** Status of a probe, with the reason if it is not healthy. */
export function statusOf(probe: KnownProbe): Pick<Probe, 'status' | 'reason'> {
  if (isHealthy(probe)) return { status: 'healthy', reason: null };
  const { alive, heartbeat, lastSeenMs, switchedOff, storeFault } = probe;
  const fault = faultOf(probe);
  if (switchedOff !== undefined) return { status: 'offline', reason: switchedOff };
  if (!alive) {
    // A Redis that refuses writes refuses heartbeats, too.
    const missing =
      storeFault === undefined ? 'No heartbeat.' : `No heartbeat. ${sentence(storeFault)}`.slice(0, 1_024);
    const reason = lastSeenMs === undefined ? 'Never seen.' : missing;
    return { status: 'offline', reason: fault ?? reason };
  }
  if (heartbeat === undefined) {
    return { status: 'degraded', reason: 'Its heartbeat cannot be read: its release does not fit the coordinator’s.' };
  }
  const back = probe.justBack === true ? ['It was offline and has come back a moment ago.'] : [];
  const reasons = heartbeat.draining ? ['It is shutting down and takes no new work.'] : [];
  if (probe.takesNoJobs === true) reasons.push('It takes no jobs: they wait in its queue though it has free slots.');
  if (fault !== undefined) reasons.push(fault);
  if (storeFault !== undefined) reasons.push(storeFault);
  reasons.push(...back, ...heartbeat.degraded);
  return { status: 'degraded', reason: reasons.map(sentence).join(' ').slice(0, 1_024) };
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

export function isHealthy(probe: KnownProbe): boolean {
  const { alive, heartbeat, switchedOff, storeFault } = probe;
  if (!alive || heartbeat === undefined) return false;
  if (switchedOff !== undefined || storeFault !== undefined || faultOf(probe) !== undefined) return false;
  return !heartbeat.draining && !isUnsteady(probe) && heartbeat.degraded.length === 0;
}

function isUnsteady({ justBack, takesNoJobs }: Pick<KnownProbe, 'justBack' | 'takesNoJobs'>): boolean {
  return justBack === true || takesNoJobs === true;
}

/** Why a probe gets no jobs: it is offline, suspended or shutting down; undefined if it is none of these. */
export function absenceOf(probe: KnownProbe): string | undefined {
  if (!probe.alive || probe.switchedOff !== undefined) {
    const { reason } = statusOf(probe);
    return `The probe was offline when the check was created. ${reason}`;
  }
  if (probe.heartbeat?.draining === true) return 'The probe was shutting down when the check was created.';
  return undefined;
}

/** The entry of `GET /probes`. */
export function describeProbe(probe: KnownProbe, offers?: Offer): Probe {
  const { record, heartbeat, lastSeenMs } = probe;
  const { id: _id, ...identity } = record;
  return {
    ...identity,
    ...statusOf(probe),
    version: heartbeat?.version ?? null,
    capabilities: heartbeat === undefined ? null : knownCapabilities(heartbeat),
    lastSeen: lastSeenMs === undefined ? null : new Date(lastSeenMs).toISOString(),
    load: heartbeat === undefined ? null : knownLoad(heartbeat),
    ...(offers === undefined ? {} : { offers: [...offers] }),
  };
}

/** Reduces capabilities to the documented fields: agents of later releases may report more. */
function knownCapabilities({ capabilities }: Heartbeat): Probe['capabilities'] {
  const { types, ipv4, ipv6, screenshot } = capabilities;
  return { types, ipv4, ipv6, screenshot };
}

function knownLoad({ load: { running, capacity } }: Heartbeat): Probe['load'] {
  return { running, capacity };
}

/** The entry of `GET /probes/agents`. */
export function describeAgent(probe: KnownProbe): Agent {
  const { record, heartbeat, lastSeenMs, switchedOff, access = NO_ACCESS } = probe;
  const transport = heartbeat === undefined ? lastTransport(lastSeenMs, access) : transportOf(heartbeat);
  const reason = switchedOff ?? accessFault(record.id, access) ?? null;
  return { transport, version: heartbeat?.version ?? null, state: stateOf(probe, access), reason };
}

function transportOf({ gateway }: Heartbeat): Agent['transport'] {
  return gateway === undefined ? 'redis' : 'gateway';
}

/**
 * The transport of an agent without a heartbeat, by its enrolled key or else by its last heartbeat; null without both.
 */
function lastTransport(lastSeenMs: number | undefined, { key }: AgentAccess): Agent['transport'] {
  if (key !== null) return 'gateway';
  return lastSeenMs === undefined ? null : 'redis';
}

function stateOf({ alive, switchedOff }: KnownProbe, access: AgentAccess): Agent['state'] {
  if (switchedOff !== undefined || access.state === 'suspended') return 'suspended';
  if (access.state === 'waiting') return 'waiting';
  if (access.copied !== null) return 'copied';
  if (access.refusal !== null) return 'refused';
  if (alive) return 'connected';
  return access.state === 'invited' ? 'invited' : 'offline';
}

function faultOf({ record, access }: KnownProbe): string | undefined {
  return access === undefined ? undefined : accessFault(record.id, access);
}
