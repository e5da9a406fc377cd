import { Redis } from 'ioredis';

import { closeAll } from '../redis/connections.ts';
import { createProbeRecords, type ProbeRecords } from './probe-records.ts';
import { createProbeValidators } from './probe-validators.ts';

/**
 * The operator's records of probes for a program that is no coordinator; without Redis it fails instead of waiting.
 *
 * @throws when Redis cannot be reached
 */
export async function openProbeRecords(
  redisUrl: string,
): Promise<{ readonly records: ProbeRecords; readonly close: () => Promise<void> }> {
  const redis = new Redis(redisUrl, { lazyConnect: true, retryStrategy: null, commandTimeout: 5_000 });
  // The rejection of the command that failed says it; without a listener ioredis would print it too.
  redis.on('error', () => undefined);
  await redis.connect();
  return { records: createProbeRecords(redis, createProbeValidators()), close: () => closeAll([redis]) };
}
