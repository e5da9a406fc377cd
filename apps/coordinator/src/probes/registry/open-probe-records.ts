import { openOnce } from '@vantage/redis-connections';

import { closeAll } from '../../redis/connections.ts';
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
  const redis = await openOnce({ url: redisUrl, name: 'vantage:probe-records' });
  return { records: createProbeRecords(redis, createProbeValidators()), close: () => closeAll([redis]) };
}
