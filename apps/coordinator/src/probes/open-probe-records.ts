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
  // The rejection says only that the connection was closed; why is in the event before it.
  let cause: Error | undefined;
  redis.on('error', (error: Error) => {
    cause = error;
  });
  await redis.connect().catch((error: unknown) => {
    throw cause ?? error;
  });
  return { records: createProbeRecords(redis, createProbeValidators()), close: () => closeAll([redis]) };
}
