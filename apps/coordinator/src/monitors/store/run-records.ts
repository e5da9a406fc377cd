import { redisKeys, type MonitorEvent as PublicEvent, type StoredPathChange } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { runScript } from '../../redis/scripts.ts';
import type { EvaluatedRun } from '../state/evaluate-run.ts';
import type { MonitorState } from '../state/monitor-state.ts';
import type { ChangeTask } from './outbox-records.ts';
import { claimDueScript, commitScript } from './schedule-scripts.ts';
import { LEASE_MS } from './tick-records.ts';

/** Claims monitors that have an open tick which no coordinator has evaluated in time. */
export async function claimOpen(redis: Redis, limit: number): Promise<readonly string[]> {
  return (await runScript(redis, claimDueScript, [redisKeys.monitorsOpen], [limit, LEASE_MS])) as string[];
}

/**
 * The oldest tick of a monitor that has not been evaluated, with the definition and the state before it; undefined
 * without one.
 */
export async function readOpen(
  redis: Redis,
  name: string,
): Promise<{ readonly open: string; readonly stored: string; readonly state: string } | undefined> {
  const [open, stored, state] = await Promise.all([
    redis.lindex(redisKeys.monitorOpenTicks(name), 0),
    redis.hget(redisKeys.monitors, name),
    redis.get(redisKeys.monitorState(name)),
  ]);
  return open === null || stored === null ? undefined : { open, stored, state: state ?? '' };
}

/** @returns false if another coordinator has evaluated the tick, or the monitor was changed or removed */
export async function commitRun(
  redis: Redis,
  name: string,
  before: { readonly open: string; readonly state: string },
  after: {
    readonly state: MonitorState;
    readonly run: EvaluatedRun['run'];
    readonly pollMs: number;
    readonly events: readonly PublicEvent[];
    readonly task: ChangeTask | undefined;
    readonly pathChange: StoredPathChange | undefined;
  },
): Promise<boolean> {
  const keys = [
    redisKeys.monitorState(name),
    redisKeys.monitorRuns(name),
    redisKeys.monitorOpenTicks(name),
    redisKeys.monitorsOpen,
    redisKeys.monitorEvents(name),
    redisKeys.monitorOutbox,
    redisKeys.monitorPaths(name),
  ];
  const { state, run, pollMs, task, pathChange, events } = after;
  const [tick, ...further] = [[state, run], [task, pathChange], events].map((group) =>
    group.map((one) => (one === undefined ? '' : JSON.stringify(one))),
  );
  const values = [name, before.open, before.state, ...tick!, pollMs, redisKeys.monitorsChanged, ...further.flat()];
  return (await runScript(redis, commitScript, keys, values)) === 'done';
}
