import type { ProbeRecord } from '@vantage/contract';
import { openProbeRecords } from '@vantage/coordinator';

/** ISO 3166-1 leaves these codes to users; no country has them. */
const countryCodes = ['QM', 'QN', 'QO', 'QP', 'QQ', 'QR', 'QS', 'QT', 'QU', 'QV', 'QW', 'QX', 'QY', 'QZ', 'XA', 'XB'];

/** RFC 5398 reserves AS64496–AS64511 for documentation. */
const FIRST_AS_NUMBER = 64_496;

/** Records of probes that all run on this machine: different identities, so that selection can be tried. */
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

/** Makes the demo probes of this start the only ones; records without the tag `demo` are the operator's and stay. */
export async function writeDemoProbes(redisUrl: string, count: number): Promise<readonly ProbeRecord[]> {
  const wanted = demoProbes(count);
  const { records, close } = await openProbeRecords(redisUrl);
  try {
    const ids = new Set(wanted.map(({ id }) => id));
    const before = await records.list();
    for (const { id, tags } of before) if (tags.includes('demo') && !ids.has(id)) await records.remove(id);
    for (const record of wanted) await records.write(record);
    return wanted;
  } finally {
    await close();
  }
}
