import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { RedisClock } from '../../redis/clock.ts';
import { onStore } from '../../redis/store.ts';
import { firstTickAfter, INEXACT_MS } from '../definition.ts';
import { readDue } from '../store/monitor-records.ts';
import type { ReadStored } from './run-ticks.ts';

/**
 * Schedules monitors without a next tick, and those whose next tick is too far in the future: Redis lost data, or its
 * clock was stepped back.
 */
export async function correctSchedule(background: Redis, clock: RedisClock, readStored: ReadStored): Promise<void> {
  await onStore(background, async (redis) => {
    const stored = Object.entries(await redis.hgetall(redisKeys.monitors));
    if (stored.length === 0) return;
    const [due, nowMs] = [await readDue(redis), await clock.now(redis)];
    for (const [name, text] of stored) {
      const reading = readStored(name, text);
      if (!reading.valid) continue;
      const nextMs = due.get(name);
      const first = firstTickAfter(nowMs, reading.definition);
      const isFar = nextMs !== undefined && nextMs > nowMs + reading.definition.everyMs + INEXACT_MS;
      if (nextMs === undefined) await redis.zadd(redisKeys.monitorsDue, 'NX', first, name);
      else if (isFar) await redis.zadd(redisKeys.monitorsDue, 'LT', first, name);
    }
  });
}
