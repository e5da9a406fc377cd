import { HEARTBEAT_TTL_MS, redisKeys, type ProbeRecord } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { RedisClock } from '../redis/clock.ts';
import { defineScript, runScript } from '../redis/scripts.ts';
import { onStore } from '../redis/store.ts';
import { readProbeRecords } from './probe-records.ts';
import type { KnownProbe } from './probe-status.ts';
import type { ProbeValidators } from './probe-validators.ts';

/** What is read of the probes serves this long: more than the second from one reading in the background to the next. */
const FRESH_MS = 1_500;

/** `lastSeen` is written when it has moved by this much: a heartbeat's own rhythm. */
const SEEN_STEP_MS = 2_000;

/** KEYS heartbeat. Returns it with its remaining time to live (ms), which tells when it was written. */
export const heartbeatScript = defineScript(
  'no-writes',
  `return { redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1]) }`,
);

/** What is known of the probes, as old as the last reading in the background. */
export interface ProbeDirectory {
  /** @throws StoreUnavailable */
  readonly probes: () => Promise<readonly KnownProbe[]>;
  /** Reads it anew, and keeps when each probe was last seen. Calls at the same time share one reading. */
  readonly refresh: () => Promise<readonly KnownProbe[]>;
  /** The ids as last read, however long ago. */
  readonly ids: () => ReadonlySet<string>;
}

export interface ProbeDirectoryDependencies {
  readonly redis: Redis;
  readonly clock: RedisClock;
  readonly validators: ProbeValidators;
}

export function createProbeDirectory({ redis, clock, validators }: ProbeDirectoryDependencies): ProbeDirectory {
  let known: readonly KnownProbe[] = [];
  let ids: ReadonlySet<string> = new Set();
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<readonly KnownProbe[]> | undefined;

  const read = async (): Promise<readonly KnownProbe[]> => {
    const startedAt = performance.now();
    const [nowMs, records, seen] = await Promise.all([
      clock.now(redis),
      readProbeRecords(redis, validators),
      redis.hgetall(redisKeys.lastSeen),
    ]);
    known = await Promise.all(
      records.map((record) => readProbe(redis, validators, record, nowMs, Number(seen[record.id] ?? Number.NaN))),
    );
    ids = new Set(records.map(({ id }) => id));
    readAt = startedAt;
    const moved = known.filter(
      ({ record, lastSeenMs }) => (lastSeenMs ?? 0) - Number(seen[record.id] ?? 0) >= SEEN_STEP_MS,
    );
    if (moved.length > 0) {
      const pairs = moved.flatMap(({ record, lastSeenMs }) => [record.id, lastSeenMs!]);
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
    probes: async () => (performance.now() - readAt <= FRESH_MS ? known : refresh()),
  };
}

async function readProbe(
  redis: Redis,
  validators: ProbeValidators,
  record: ProbeRecord,
  nowMs: number,
  seenBefore: number,
): Promise<KnownProbe> {
  const before = Number.isFinite(seenBefore) ? seenBefore : undefined;
  const [text, leftMs] = await readHeartbeat(redis, record.id);
  // One without an end would make a dead probe look alive for ever.
  if (text === null || leftMs <= 0 || leftMs > HEARTBEAT_TTL_MS) {
    return { record, alive: false, heartbeat: undefined, lastSeenMs: before };
  }
  const lastSeenMs = Math.max(nowMs - (HEARTBEAT_TTL_MS - leftMs), before ?? 0);
  return { record, alive: true, heartbeat: validators.readHeartbeat(text), lastSeenMs };
}

async function readHeartbeat(redis: Redis, probe: string): Promise<readonly [string | null, number]> {
  try {
    return (await runScript(redis, heartbeatScript, [redisKeys.heartbeat(probe)], [])) as [string | null, number];
  } catch (error) {
    // The agent may have put another type of key there: that is this probe's trouble alone.
    if (Error.isError(error) && error.message.includes('WRONGTYPE')) return [null, 0];
    throw error;
  }
}
