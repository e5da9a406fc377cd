import { isDeepStrictEqual } from 'node:util';

import type { ProbeRecord } from '@vantage/contract';
import { openProbeRecords } from '@vantage/coordinator';

/** User-assigned codes of ISO 3166-1, which denote no country. */
const countryCodes = ['QM', 'QN', 'QO', 'QP', 'QQ', 'QR', 'QS', 'QT', 'QU', 'QV', 'QW', 'QX', 'QY', 'QZ', 'XA', 'XB'];

/** First AS number for documentation (RFC 5398: AS64496–AS64511). */
const FIRST_AS_NUMBER = 64_496;

/** Records of local probes with different locations, so that probe selection can be tried. */
export function demoProbes(count: number): readonly ProbeRecord[] {
  return countryCodes.slice(0, count).map((countryCode, index) => ({
    id: `demo-${index + 1}`,
    name: `Demo probe ${index + 1}, on this machine`,
    datacenter: `Demo datacenter ${index + 1}`,
    countryCode,
    isp: `Demo network ${index + 1}`,
    asNumber: `AS${FIRST_AS_NUMBER + index}`,
    city: null,
    latitude: null,
    longitude: null,
    tags: ['demo'],
  }));
}

/** Replaces all demo probes by those of this start; records with other ids and without the tag `demo` are kept. */
export async function writeDemoProbes(redisUrl: string, count: number): Promise<readonly ProbeRecord[]> {
  const wanted = demoProbes(count);
  const { records, close } = await openProbeRecords(redisUrl);
  try {
    const ids = new Set(wanted.map(({ id }) => id));
    const before = await records.list();
    for (const { id, tags } of before) if (tags.includes('demo') && !ids.has(id)) await records.remove(id);
    // Unchanged records are not written again: a Redis without free memory refuses writes, and the service can still
    // start.
    for (const record of wanted) {
      if (!before.some((known) => isDeepStrictEqual(known, record))) await records.write(record);
    }
    return wanted;
  } finally {
    await close();
  }
}
