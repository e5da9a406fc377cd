import { redisKeys, type MonitorEvent as PublicEvent, type StoredPathChange } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { StoredMonitor } from '../definition.ts';
import type { RunRecord } from '../state/evaluate-run.ts';
import type { MonitorState } from '../state/monitor-state.ts';
import type { Parting } from './outbox-records.ts';
import { EVENTS_KEPT } from './schedule-scripts.ts';

/** A monitor read from Redis, with its JSON texts parsed. */
export interface MonitorRecord {
  readonly stored: StoredMonitor;
  readonly state: MonitorState | undefined;
  readonly nextMs: number | undefined;
  readonly parting: Parting | undefined;
}

/** All monitors by name, in alphabetical order. */
export async function readMonitors(redis: Redis): Promise<ReadonlyMap<string, MonitorRecord>> {
  const [all, due] = await Promise.all([redis.hgetall(redisKeys.monitors), readDue(redis)]);
  const names = Object.keys(all).toSorted();
  const keys = names.flatMap((name) => [redisKeys.monitorState(name), redisKeys.monitorParting(name)]);
  const texts = keys.length === 0 ? [] : await redis.mget(keys);
  return new Map(
    names.map((name, index) => [
      name,
      toRecord(all[name]!, texts[2 * index] ?? null, texts[2 * index + 1] ?? null, due.get(name)),
    ]),
  );
}

/** A monitor with its last runs and changes of the path, newest first. */
export interface WholeMonitor extends MonitorRecord {
  readonly runs: readonly RunRecord[];
  readonly pathChanges: readonly StoredPathChange[];
}

/** Reads a monitor with its last runs and changes of the path; undefined if there is no such monitor. */
export async function readMonitor(redis: Redis, name: string): Promise<WholeMonitor | undefined> {
  const [stored, state, parting, next, runs, paths] = await Promise.all([
    redis.hget(redisKeys.monitors, name),
    redis.get(redisKeys.monitorState(name)),
    redis.get(redisKeys.monitorParting(name)),
    redis.zscore(redisKeys.monitorsDue, name),
    redis.lrange(redisKeys.monitorRuns(name), 0, -1),
    redis.lrange(redisKeys.monitorPaths(name), 0, -1),
  ]);
  if (stored === null) return undefined;
  const record = toRecord(stored, state, parting, next === null ? undefined : Number(next));
  return {
    ...record,
    runs: runs.map((run) => JSON.parse(run) as RunRecord),
    pathChanges: paths.map((change) => JSON.parse(change) as StoredPathChange),
  };
}

function toRecord(
  stored: string,
  state: string | null,
  parting: string | null,
  nextMs: number | undefined,
): MonitorRecord {
  return {
    stored: JSON.parse(stored) as StoredMonitor,
    state: state === null ? undefined : (JSON.parse(state) as MonitorState),
    nextMs,
    parting: parting === null ? undefined : (JSON.parse(parting) as Parting),
  };
}

/** Times of the next ticks by monitor, milliseconds since the epoch. */
export async function readDue(redis: Redis): Promise<ReadonlyMap<string, number>> {
  const flat = await redis.zrange(redisKeys.monitorsDue, '0', '-1', 'WITHSCORES');
  const due = new Map<string, number>();
  for (let index = 0; index + 1 < flat.length; index += 2) due.set(flat[index]!, Number(flat[index + 1]));
  return due;
}

/** Events of a monitor after a given one, oldest first. */
export async function readEventsAfter(
  redis: Redis,
  name: string,
  after: string,
): Promise<readonly { readonly id: string; readonly event: PublicEvent }[]> {
  const entries = await redis.xrange(redisKeys.monitorEvents(name), `(${after}`, '+');
  return entries.map(([id, fields]) => ({ id, event: JSON.parse(fields[1]!) as PublicEvent }));
}

/** Reads the last run of a monitor; undefined before the first. */
export async function readLastRun(redis: Redis, name: string): Promise<RunRecord | undefined> {
  const text = await redis.lindex(redisKeys.monitorRuns(name), 0);
  return text === null ? undefined : (JSON.parse(text) as RunRecord);
}

/**
 * Ids of the oldest and the newest event that are kept, `0-0` if there is none, and whether older ones may have been
 * dropped.
 */
export async function readEventBounds(
  redis: Redis,
  name: string,
): Promise<{ readonly first: string; readonly last: string; readonly isTrimmed: boolean }> {
  const key = redisKeys.monitorEvents(name);
  const [oldest, newest, kept] = await Promise.all([
    redis.xrange(key, '-', '+', 'COUNT', 1),
    redis.xrevrange(key, '+', '-', 'COUNT', 1),
    redis.xlen(key),
  ]);
  return { first: oldest[0]?.[0] ?? '0-0', last: newest[0]?.[0] ?? '0-0', isTrimmed: kept >= EVENTS_KEPT };
}
