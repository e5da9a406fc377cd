import { redisKeys } from '@vantage/contract';
import { until } from '@vantage/test-support/until';
import type { Redis } from 'ioredis';

import type { CoreBed } from './core-bed.ts';

/** Sends a heartbeat of each probe, waits until all are online, and starts a check with a budget of two minutes. */
export async function startLongCheck(bed: CoreBed, probes: readonly string[]): Promise<string> {
  for (const probe of probes) await bed.beat(probe);
  // After an outage, connections recover independently.
  await until(() => bed.core.rateLimitRedis.status === 'ready');
  await until(async () => {
    const known = await bed.core.knownProbes();
    return probes.every((probe) => known.some(({ record, alive }) => record.id === probe && alive));
  });
  return bed.start({ probes });
}

/**
 * Moves the deadline of a check into the past: earlier writes were in time, later ones are late. With `maxmemory`,
 * Redis refuses writes from the same moment.
 */
export async function passDeadline(redis: Redis, check: string, { maxmemory = '0' } = {}): Promise<void> {
  const [seconds, microseconds] = await redis.time();
  const deadlineAt = Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
  await redis
    .multi()
    .hset(redisKeys.check(check), { deadlineAt })
    .zadd(redisKeys.deadlines, deadlineAt, check)
    .config('SET', 'maxmemory', maxmemory)
    .exec();
}

/** Writes a partial or final result like an agent. */
export async function report(
  redis: Redis,
  probe: string,
  check: string,
  data: unknown,
  { kind = 'final', notify = true, id = '*' } = {},
): Promise<void> {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  await redis.xadd(redisKeys.results(probe), id, 'check', check, 'kind', kind, 'data', text);
  if (notify) await redis.publish(redisKeys.resultNotification(probe), '1');
}

export function success(said: string): Readonly<Record<string, unknown>> {
  return {
    result: 'success',
    rt: 1.5,
    resolvedIp: '192.0.2.1',
    error: null,
    said,
    startedAt: '2026-01-01T00:00:00.000Z',
    finishedAt: '2026-01-01T00:00:00.100Z',
  };
}
