import type { Check } from '@vantage/contract';

import type { ProbeResult, SparseResultOf } from './probe-result.ts';
import { familyOf } from './scopes.ts';
import { shown, unique } from './words.ts';

/** Types that measure one address of a name; http tries several. */
const ofOneAddress: ReadonlySet<string> = new Set(['ping', 'tcp', 'udp', 'traceroute']);

/** The host, with what was measured of it if its name has addresses that no probe measured. */
export function measuredHost({ type, host }: Check, probeResults: readonly ProbeResult[]): string {
  const name = shown(host, 120);
  if (!ofOneAddress.has(type)) return name;
  const measured = unique(probeResults.flatMap(({ result }) => result.resolvedIp ?? []));
  const families = unique(probeResults.flatMap((probeResult) => familyOf(probeResult) ?? []));
  const known = unique([...measured, ...probeResults.flatMap(addressesOfFamily)]);
  if (measured.length === 0 || known.length === measured.length) return name;
  const count = `${known.length} ${families.length === 1 ? `${families[0]} ` : ''}addresses`;
  const [first, ...others] = measured;
  return others.length === 0
    ? `${name} (${shown(first!)}, one of its ${count})`
    : `${name} (${measured.length} of its ${count})`;
}

/** Addresses of the family that the probe used: it may have no connectivity in the other one. */
function addressesOfFamily(probeResult: ProbeResult): readonly string[] {
  const { addresses = [] } = probeResult.result as SparseResultOf<'ping'>;
  const family = familyOf(probeResult);
  return family === undefined ? [] : addresses.filter((address) => address.includes(':') === (family === 'IPv6'));
}
