import { HEARTBEAT_EVERY_MS, HEARTBEAT_TTL_MS, JOB_QUEUE, redisKeys, type ProbeRecord } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { RedisClock } from '../../redis/clock.ts';
import type { Log } from '../../redis/log.ts';
import { readHash } from '../../redis/read-hash.ts';
import { defineScript, runScript } from '../../redis/scripts.ts';
import { onStore } from '../../redis/store.ts';
import type { WriteWatch } from '../../redis/server-state/write-watch.ts';
import type { OversizeWatch } from '../access/oversize-watch.ts';
import type { AccessWatch } from '../enrolment/access-watch.ts';
import { marksOf, readProbeRecords } from './probe-records.ts';
import type { KnownProbe } from './probe-status.ts';
import type { ProbeValidators } from './probe-validators.ts';
import { createUntakenJobs } from './untaken-jobs.ts';

/** What is read of the probes serves this long: more than the second from one reading in the background to the next. */
const FRESH_MS = 1_500;

/** `lastSeen` is written when it has moved by this much: a heartbeat's own rhythm. */
const SEEN_STEP_MS = 2_000;

/** What an older heartbeat says of the jobs that were taken may have changed. */
const FRESH_HEARTBEAT_MS = HEARTBEAT_EVERY_MS + 1_000;

/** Several times the longest that an agent writes. */
const MAX_HEARTBEAT_BYTES = 16_384;

/**
 * KEYS heartbeat, list of waiting jobs. ARGV most bytes of a heartbeat. Returns the heartbeat with its remaining time to live
 * (ms), which tells when it was written, how many jobs wait, and the next one. An agent writes heartbeats of any size: a
 * longer one leaves Redis empty, which is not valid.
 */
export const heartbeatScript = defineScript(
  'no-writes',
  `local waiting = redis.pcall('LLEN', KEYS[2])
if type(waiting) ~= 'number' then waiting = 0 end
local oldest = waiting > 0 and redis.call('LINDEX', KEYS[2], -1)
local text = redis.call('GETRANGE', KEYS[1], 0, ARGV[1])
if #text > tonumber(ARGV[1]) then text = '' end
return { text, redis.call('PTTL', KEYS[1]), waiting, oldest }`,
);

const REFUSED_WRITES = 'Redis refuses writes: no check can start and no result is kept.';

/** A probe that was silent and is back is steady after three heartbeats. */
const STEADY_AFTER_MS = 3 * HEARTBEAT_EVERY_MS;

type Seen = Readonly<Record<string, string>>;

/** What is known of the probes, as old as the last reading in the background. */
export interface ProbeDirectory {
  /** @throws StoreUnavailable */
  readonly probes: () => Promise<readonly KnownProbe[]>;
  /** Reads it anew, and keeps when each probe was last seen. Calls at the same time share one reading. */
  readonly refresh: () => Promise<readonly KnownProbe[]>;
  /** True if Redis had records of probes and has none now: it was emptied. */
  readonly isEmptied: () => boolean;
  /** The ids as last read, however long ago. */
  readonly ids: () => ReadonlySet<string>;
}

export interface ProbeDirectoryDependencies {
  readonly redis: Redis;
  readonly clock: RedisClock;
  readonly validators: ProbeValidators;
  readonly access: Pick<AccessWatch, 'of'>;
  readonly writes: Pick<WriteWatch, 'refusal'>;
  readonly oversize: OversizeWatch;
  readonly log: Log;
}

export function createProbeDirectory(dependencies: ProbeDirectoryDependencies): ProbeDirectory {
  const { redis, clock, validators, access, writes, log } = dependencies;
  let known: readonly KnownProbe[] = [];
  let ids: ReadonlySet<string> = new Set();
  let readAt = Number.NEGATIVE_INFINITY;
  /** When it was read before, by Redis' clock. */
  let lookedMs = Number.NEGATIVE_INFINITY;
  const untaken = createUntakenJobs();
  let reading: Promise<readonly KnownProbe[]> | undefined;
  let isEmptied = false;

  const read = async (): Promise<readonly KnownProbe[]> => {
    const startedAt = performance.now();
    const [nowMs, records, seen, off] = await Promise.all([
      clock.now(redis),
      readProbeRecords(redis, validators),
      readHash(redis, redisKeys.lastSeen),
      readHash(redis, redisKeys.suspended),
    ]);
    // A coordinator that stood still, or has just started, saw no probe leave.
    const wasLooking = nowMs - lookedMs < HEARTBEAT_TTL_MS;
    lookedMs = nowMs;
    known = await Promise.all(
      records.map(async (record) => ({
        ...withReturn(
          await readProbe(dependencies, untaken, record, nowMs, Number(seen[record.id] ?? Number.NaN)),
          seen,
          nowMs,
          wasLooking,
        ),
        switchedOff: off[record.id],
        access: access.of(record.id),
        storeFault: writes.refusal() === undefined ? undefined : REFUSED_WRITES,
      })),
    );
    const isEmpty = records.length === 0 && (ids.size > 0 || isEmptied);
    if (isEmpty && !isEmptied) log.error({ probes: ids.size }, 'Redis has lost the records of all probes');
    isEmptied = isEmpty;
    ids = new Set(records.map(({ id }) => id));
    readAt = startedAt;
    const moved = known.filter(
      ({ record, lastSeenMs }) => (lastSeenMs ?? 0) - Number(seen[record.id] ?? 0) >= SEEN_STEP_MS,
    );
    if (moved.length > 0) {
      const pairs = moved.flatMap((probe) => [
        probe.record.id,
        probe.lastSeenMs!,
        ...returnOf(probe, seen, wasLooking),
      ]);
      // Memory may be short: then the list is still right, and only what it remembers of a probe that leaves is older.
      await redis.hset(redisKeys.lastSeen, ...pairs).catch(() => undefined);
    }
    return known;
  };

  const refresh = (): Promise<readonly KnownProbe[]> => {
    reading ??= onStore(redis, read).finally(() => {
      reading = undefined;
    });
    return reading;
  };
  return {
    refresh,
    ids: () => ids,
    isEmptied: () => isEmptied,
    probes: async () => (performance.now() - readAt <= FRESH_MS ? known : refresh()),
  };
}

/*
 * Beside when a probe was last seen, the same hash has which run of its agent that was and when that run came back after a
 * silence. So all coordinators see the same, whichever of them noted it.
 */

/** What to note of a probe that is seen: a new run is no return, and a line that comes and goes is one. */
function returnOf(
  { record, heartbeat, lastSeenMs }: KnownProbe,
  seen: Seen,
  wasLooking: boolean,
): readonly (string | number)[] {
  const instance = heartbeat?.instance;
  if (instance === undefined || lastSeenMs === undefined) return [];
  const [run, back] = marksOf(record.id);
  const isReturn = wasLooking && seen[run] === instance && lastSeenMs - Number(seen[record.id]) > HEARTBEAT_TTL_MS;
  return [...(isReturn ? [back, lastSeenMs] : []), run, instance];
}

function withReturn(probe: KnownProbe, seen: Seen, nowMs: number, wasLooking: boolean): KnownProbe {
  const [run, back] = marksOf(probe.record.id);
  const isNoted =
    nowMs - Number(seen[back] ?? 0) < STEADY_AFTER_MS &&
    seen[run] !== undefined &&
    seen[run] === probe.heartbeat?.instance;
  return { ...probe, justBack: probe.alive && (isNoted || returnOf(probe, seen, wasLooking).includes(back)) };
}

async function readProbe(
  { redis, validators, oversize }: ProbeDirectoryDependencies,
  untaken: ReturnType<typeof createUntakenJobs>,
  record: ProbeRecord,
  nowMs: number,
  seenBefore: number,
): Promise<KnownProbe> {
  const before = Number.isFinite(seenBefore) ? seenBefore : undefined;
  const [text, leftMs, waiting, oldest] = await readHeartbeat(redis, record.id);
  if (text === '') oversize.note(record.id);
  // One without an end would make a dead probe look alive for ever.
  if (text === null || leftMs <= 0 || leftMs > HEARTBEAT_TTL_MS) {
    return { record, alive: false, heartbeat: undefined, lastSeenMs: before };
  }
  const lastSeenMs = Math.max(nowMs - (HEARTBEAT_TTL_MS - leftMs), before ?? 0);
  const heartbeat = validators.readHeartbeat(text);
  const takesNoJobs =
    heartbeat !== undefined &&
    nowMs - lastSeenMs < FRESH_HEARTBEAT_MS &&
    untaken.note(record.id, {
      ...{ oldest, instance: heartbeat.instance, taken: heartbeat.taken },
      hasFreePlaces: heartbeat.load.running < heartbeat.load.capacity,
    });
  return { record, alive: true, heartbeat, lastSeenMs, waiting, takesNoJobs };
}

type Reading = readonly [text: string | null, leftMs: number, waiting: number, oldest: string | null];

async function readHeartbeat(redis: Redis, probe: string): Promise<Reading> {
  const keys = [redisKeys.heartbeat(probe), waitList(probe)];
  try {
    return (await runScript(redis, heartbeatScript, keys, [MAX_HEARTBEAT_BYTES])) as Reading;
  } catch (error) {
    // The agent may have put another type of key there: that is this probe's trouble alone.
    if (Error.isError(error) && error.message.includes('WRONGTYPE')) return [null, 0, 0, null];
    throw error;
  }
}

/** Of BullMQ's keys the one that holds what no agent has taken. */
function waitList(probe: string): string {
  return `${redisKeys.queuePrefix(probe)}:${JOB_QUEUE}:wait`;
}
