import { HEARTBEAT_EVERY_MS, HEARTBEAT_TTL_MS, type Heartbeat } from '@vantage/contract';

import { marksOf } from './probe-records.ts';
import type { KnownProbe } from './probe-status.ts';
import type { GatewayLives } from './gateway-lives.ts';
import type { ProbeReading } from './read-probes.ts';
import type { LastReading } from './reading-turns.ts';
import type { UntakenJobs } from './untaken-jobs.ts';

/** What the hash of the times at which probes were seen has. */
export type Seen = Readonly<Record<string, string>>;

/** What follows from the readings of a probe. */
export interface ProbeEntry extends LastReading {
  readonly probe: Pick<KnownProbe, 'alive' | 'heartbeat' | 'lastSeenMs' | 'waiting' | 'takesNoJobs'>;
  /** True if it had no heartbeat when it was read before, and the same run of its agent is back. */
  readonly isReturn: boolean;
  /** Entries of its result stream. */
  readonly entries: number;
  /** The heartbeat as it was read: most readings find the same. */
  readonly text?: string | undefined;
  /** What that text says, also if the gateway of the agent is gone. */
  readonly read?: Heartbeat | undefined;
  /** The gateway whose end is that of the heartbeat; undefined if the agent writes it. */
  readonly gateway?: string | undefined;
}

/** What Redis has of a probe, or what is known to be unchanged. */
export interface ReadProbe extends ProbeReading {
  /** The heartbeat; undefined if it is not valid. */
  readonly heartbeat: Heartbeat | undefined;
}

export interface EntryContext {
  readonly untaken: UntakenJobs;
  readonly lives: Pick<GatewayLives, 'leftMs'>;
  readonly seen: Seen;
  /** By Redis' clock. */
  readonly nowMs: number;
  /** False if this coordinator saw no probe leave: it stood still, or has just started. */
  readonly wasLooking: boolean;
  /** When the reading was asked for; monotonic. */
  readonly atMs: number;
}

/** What an older heartbeat says of the jobs that were taken may have changed. */
const FRESH_HEARTBEAT_MS = HEARTBEAT_EVERY_MS + 1_000;

/** A probe that was silent and is back is steady after this time. */
const STEADY_AFTER_MS = 6_000;

export function entryOf(
  id: string,
  reading: ReadProbe,
  before: ProbeEntry | undefined,
  context: EntryContext,
): ProbeEntry {
  const { untaken, lives, seen, nowMs, wasLooking, atMs } = context;
  const { text, heartbeat, waiting, oldest, entries, isOversized } = reading;
  const gateway = heartbeat?.gateway?.id;
  const leftMs = gateway === undefined ? reading.leftMs : lives.leftMs(gateway);
  const seenBefore = Number(seen[id] ?? Number.NaN);
  const lastSeenBefore = Number.isFinite(seenBefore) ? seenBefore : undefined;
  const isThere = text !== undefined || isOversized;
  // The clock of Redis was stepped back: until the next heartbeat the time to live says nothing.
  if (isThere && leftMs > HEARTBEAT_TTL_MS && before?.probe.alive === true && atMs < before.endsAtMs) {
    return { ...before, probe: { ...before.probe, waiting }, atMs, isSettled: false, entries };
  }
  // One without an end would make a dead probe look alive permanently.
  if (!isThere || leftMs <= 0 || leftMs > HEARTBEAT_TTL_MS) {
    const probe = { alive: false, heartbeat: undefined, lastSeenMs: lastSeenBefore };
    const endsAtMs = Number.POSITIVE_INFINITY;
    return {
      ...{ probe, isReturn: false, entries, text, read: heartbeat, gateway },
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
      ...{ oldest, instance: heartbeat.instance, taken: heartbeat.taken },
      hasFreePlaces: heartbeat.load.running < heartbeat.load.capacity,
    });
  const isReturn =
    wasLooking &&
    before?.probe.alive === false &&
    heartbeat !== undefined &&
    seen[marksOf(id)[0]] === heartbeat.instance &&
    lastSeenMs - (lastSeenBefore ?? Number.NaN) > HEARTBEAT_TTL_MS;
  const isSettled = heartbeat?.announced === true && waiting === 0 && entries === 0 && !takesNoJobs && !isReturn;
  const probe = { alive: true, heartbeat, lastSeenMs, waiting, takesNoJobs };
  return { probe, isReturn, entries, text, read: heartbeat, gateway, atMs, endsAtMs: atMs + leftMs, isSettled };
}

/*
 * Beside when a probe was last seen, the same hash has which run of its agent that was and when that run came back after a
 * silence. So all coordinators see the same, whichever of them noted it.
 */

/** What to write of a probe that was read into the hash: a new run is no return, and a line that comes and goes is one. */
export function marksToWrite(id: string, { probe, isReturn }: ProbeEntry): readonly (string | number)[] {
  const { heartbeat, lastSeenMs } = probe;
  if (heartbeat === undefined || lastSeenMs === undefined) return [];
  const [run, back] = marksOf(id);
  return [...(isReturn ? [back, lastSeenMs] : []), run, heartbeat.instance];
}

/** True for a moment after a return that any coordinator saw. */
export function isJustBack(id: string, { probe, isReturn }: ProbeEntry, seen: Seen, nowMs: number): boolean {
  const [run, back] = marksOf(id);
  const isNoted =
    nowMs - Number(seen[back] ?? 0) < STEADY_AFTER_MS &&
    seen[run] !== undefined &&
    seen[run] === probe.heartbeat?.instance;
  return probe.alive && (isReturn || isNoted);
}
