import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { runScript } from '../../redis/scripts.ts';
import { meaningOf, type MonitorOwner, type StoredMonitor } from '../definition.ts';
import { putScript, removeScript } from './definition-scripts.ts';

export type PutOutcome = 'same' | 'new' | 'changed' | 'file' | 'full';

/**
 * How long the last tick of a removed monitor is kept: longer than the attempts to deliver a message to a webhook,
 * which take up to 84 hours, plus the time in which the receiver is busy (`putOff`) or no coordinator runs.
 */
const ENDED_KEPT_MS = 7 * 86_400_000;

/**
 * Creates or changes a monitor; a changed one begins again.
 *
 * @param firstMs first tick, milliseconds since the epoch
 * @param inAlarmMs first tick if the alarm is on: earlier, because an alarm should not wait for a long interval
 */
export async function putMonitor(
  redis: Redis,
  name: string,
  stored: StoredMonitor,
  firstMs: number,
  most = Number.MAX_SAFE_INTEGER,
  inAlarmMs = firstMs,
): Promise<PutOutcome> {
  const text = JSON.stringify(stored);
  const known = await redis.hget(redisKeys.monitors, name);
  const isMeant = known !== null && meaningOf(JSON.parse(known) as StoredMonitor) === meaningOf(stored);
  const values = [name, text, stored.owner, firstMs, most, inAlarmMs, isMeant ? known : text];
  const outcome = (await runScript(redis, putScript, keysOf(name), values)) as PutOutcome;
  if (outcome === 'changed') await redis.publish(redisKeys.monitorsChanged, name);
  return outcome;
}

/** Removes a monitor, unless it has another owner. */
export async function removeMonitor(
  redis: Redis,
  name: string,
  owner: MonitorOwner,
): Promise<'removed' | 'absent' | 'file'> {
  const keys = [...keysOf(name), redisKeys.monitorTicks, redisKeys.monitorsEnded, redisKeys.monitorsEndedAt];
  const reply = await runScript(redis, removeScript, keys, [name, owner, ENDED_KEPT_MS]);
  const outcome = reply as 'removed' | 'absent' | 'file';
  if (outcome === 'removed') await redis.publish(redisKeys.monitorsChanged, name);
  return outcome;
}

function keysOf(name: string): readonly string[] {
  return [
    redisKeys.monitors,
    redisKeys.monitorsDue,
    redisKeys.monitorClaims,
    redisKeys.monitorsOpen,
    redisKeys.monitorOpenTicks(name),
    redisKeys.monitorState(name),
    redisKeys.monitorRuns(name),
    redisKeys.monitorEvents(name),
    redisKeys.monitorParting(name),
    redisKeys.monitorPaths(name),
  ];
}
