import { openOnce } from '@vantage/redis-connections';

import { closeAll } from '../../redis/connections.ts';
import { createProbeRecords, type ProbeRecords } from './probe-records.ts';
import { createProbeValidators } from './probe-validators.ts';

/**
 * Opens the probe records for programs other than coordinators; fails without Redis instead of waiting.
 *
 * @throws if Redis is unreachable
 */
export async function openProbeRecords(
  redisUrl: string,
): Promise<{ readonly records: ProbeRecords; readonly close: () => Promise<void> }> {
  const redis = await openOnce({ url: redisUrl, name: 'vantage:probe-records' });
  return { records: createProbeRecords(redis, createProbeValidators()), close: () => closeAll([redis]) };
}
