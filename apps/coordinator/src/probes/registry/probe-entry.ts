import { HEARTBEAT_EVERY_MS, HEARTBEAT_TTL_MS, type Heartbeat } from '@vantage/contract';

import { marksOf } from './probe-records.ts';
import type { KnownProbe } from './probe-status.ts';
import type { GatewayLives } from './reading/gateway-lives.ts';
import type { ProbeReading } from './reading/read-probes.ts';
import type { LastReading } from './reading/reading-turns.ts';
import type { UntakenJobs } from './reading/untaken-jobs.ts';

/**
 * One of two hashes of Redis: the times at which probes were last seen, with their marks, or the reasons of
 * suspensions.
 */
export type Seen = Readonly<Record<string, string>>;

/** State derived from the reads of a probe. */
export interface ProbeEntry extends LastReading {
  readonly probe: Pick<KnownProbe, 'alive' | 'heartbeat' | 'lastSeenMs' | 'waiting' | 'queued' | 'takesNoJobs'>;
  /** True if the previous read found no heartbeat and the same run of its agent is back. */
  readonly isReturn: boolean;
  /** Text of the heartbeat, to skip parsing an equal one. */
  readonly text?: string | undefined;
  /** The parsed text, even if the agent's gateway is dead. */
  readonly read?: Heartbeat | undefined;
  /** The gateway whose lease bounds the heartbeat; undefined if the agent writes it, or if there is no valid one. */
  readonly gateway?: string | undefined;
}

/** Data of a probe in Redis, or known to be unchanged. */
export interface ReadProbe extends ProbeReading {
  /** The stored heartbeat; undefined if it is invalid or missing. */
  readonly heartbeat: Heartbeat | undefined;
}

export interface EntryContext {
  readonly untaken: UntakenJobs;
  readonly lives: Pick<GatewayLives, 'leftMs'>;
  readonly seen: Seen;
  /** Time by the clock of Redis, milliseconds. */
  readonly nowMs: number;
  /** False if this coordinator may have missed a departure, because it stalled or has just started. */
  readonly wasPolling: boolean;
  /** Time of the read on the monotonic clock. */
  readonly atMs: number;
}

/** Age of a heartbeat up to which its number of taken jobs is used: in an older one it may be out of date. */
const FRESH_HEARTBEAT_MS = HEARTBEAT_EVERY_MS + 1_000;

export function entryOf(
  id: string,
  reading: ReadProbe,
  before: ProbeEntry | undefined,
  context: EntryContext,
): ProbeEntry {
  const { untaken, lives, seen, nowMs, wasPolling, atMs } = context;
  const { text, heartbeat, waiting, active, oldest, entries, isOversized } = reading;
  const gateway = heartbeat?.gateway?.id;
  const queued = gateway === undefined ? waiting + active : undefined;
  const leftMs = gateway === undefined ? reading.leftMs : lives.leftMs(gateway);
  const seenBefore = Number(seen[id] ?? Number.NaN);
  const lastSeenBefore = Number.isFinite(seenBefore) ? seenBefore : undefined;
  const isThere = text !== undefined || isOversized;
  // The clock of Redis was stepped back: until the next heartbeat, the remaining lifetime is meaningless.
  if (isThere && leftMs > HEARTBEAT_TTL_MS && before?.probe.alive === true && atMs < before.endsAtMs) {
    return { ...before, probe: { ...before.probe, waiting, queued }, atMs, isSettled: false, entries };
  }
  // A heartbeat without a lifetime, or with a longer one than agents write, would make a dead probe look online.
  if (!isThere || leftMs <= 0 || leftMs > HEARTBEAT_TTL_MS) {
    const probe = { alive: false, heartbeat: undefined, lastSeenMs: lastSeenBefore };
    const endsAtMs = Number.POSITIVE_INFINITY;
    return {
      probe,
      isReturn: false,
      entries,
      text,
      read: heartbeat,
      gateway,
      atMs,
      endsAtMs,
      isSettled: entries === 0,
    };
  }
  const lastSeenMs = Math.max(nowMs - (HEARTBEAT_TTL_MS - leftMs), lastSeenBefore ?? 0);
  const takesNoJobs =
    heartbeat !== undefined &&
    nowMs - lastSeenMs < FRESH_HEARTBEAT_MS &&
    untaken.note(id, {
      oldest,
      instance: heartbeat.instance,
      taken: heartbeat.taken,
      hasFreePlaces: heartbeat.load.running < heartbeat.load.capacity,
    });
  const isReturn =
    wasPolling &&
    before?.probe.alive === false &&
    heartbeat !== undefined &&
    seen[marksOf(id)[0]] === heartbeat.instance &&
    lastSeenMs - (lastSeenBefore ?? Number.NaN) > HEARTBEAT_TTL_MS;
  const isSettled = heartbeat?.announced === true && waiting === 0 && entries === 0 && !takesNoJobs && !isReturn;
  const probe = { alive: true, heartbeat, lastSeenMs, waiting, queued, takesNoJobs };
  return { probe, isReturn, entries, text, read: heartbeat, gateway, atMs, endsAtMs: atMs + leftMs, isSettled };
}
