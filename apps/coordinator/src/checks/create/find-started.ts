import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { Creation } from '../checks.ts';
import { readEmptyLocations } from '../store/records/check-records.ts';

/**
 * Finds a check that another coordinator may have started.
 *
 * @returns undefined if there is none
 */
export async function findStarted(
  redis: Redis,
  id: string,
): Promise<(Creation & { readonly created: true }) | undefined> {
  const [probes, empty] = await redis.hmget(redisKeys.check(id), 'probes', 'emptyLocations');
  if (typeof probes !== 'string') return undefined;
  const emptyLocations = readEmptyLocations(new Map(typeof empty === 'string' ? [['emptyLocations', empty]] : []));
  const left = emptyLocations === undefined ? {} : { emptyLocations };
  // Probes without a job are counted only in the answer of the coordinator that started the check.
  return { created: true, checkId: id, probes: probes.split(','), withoutJob: 0, ...left };
}
