import type { Check } from '@vantage/contract';

import { resolvedFamily } from './requested-servers.ts';
import { isCutOff } from './cut-off.ts';
import type { ProbeResult, SparseResultOf } from './probe-result.ts';
import { safeText, unique } from './words.ts';

/** Types that measure one address of a name; http tries others if one takes no connection. */
const ofAddress: ReadonlySet<string> = new Set(['ping', 'tcp', 'udp', 'traceroute', 'http']);

/** The host, followed by `measuredPart` if its name has addresses that no probe measured. */
export function measuredHost({ type, host }: Check, all: readonly ProbeResult[]): string {
  return `${safeText(host, 120)}${measuredPart(type, all)}`;
}

/**
 * ` (192.0.2.1, one of its 2 IPv4 addresses)` or ` (2 of its 3 addresses)`; empty if all known ones were measured, or
 * none.
 */
export function measuredPart(type: string, all: readonly ProbeResult[]): string {
  if (!ofAddress.has(type)) return '';
  const probeResults = type === 'http' ? all.filter(isOfHost) : all;
  const measured = unique(probeResults.flatMap(measuredBy));
  const families = unique(probeResults.flatMap((probeResult) => resolvedFamily(probeResult) ?? []));
  const known = unique([...measured, ...probeResults.flatMap(addressesOfFamily)]);
  if (measured.length === 0 || known.length === measured.length) return '';
  const atLeast = probeResults.some(isCutOff) ? ' or more' : '';
  const count = `${known.length}${atLeast} ${families.length === 1 ? `${families[0]} ` : ''}addresses`;
  const [first, ...others] = measured;
  return others.length === 0 ? ` (${safeText(first!)}, one of its ${count})` : ` (${measured.length} of its ${count})`;
}

/** ` over IPv4`, if all measured over that family alone and the name has addresses of the other one; http tries both. */
export function overFamily(type: string, all: readonly ProbeResult[]): string {
  if (!ofAddress.has(type) || type === 'http') return '';
  const [family, ...others] = new Set(all.map(resolvedFamily));
  const isAlone = others.length === 0 && all.every(({ result }) => !('otherFamily' in result));
  return family !== undefined && isAlone && all.some(hasOtherAddresses) ? ` over ${family}` : '';
}

function hasOtherAddresses(probeResult: ProbeResult): boolean {
  const { addresses = [] } = probeResult.result as SparseResultOf<'ping'>;
  return addresses.length > addressesOfFamily(probeResult).length;
}

/** True for an http result that connected, and whose last URL is on the host of the first. */
function isOfHost({ result }: ProbeResult): boolean {
  const { url, redirects = [], timings } = result as SparseResultOf<'http'>;
  const [first, last] = [redirects[0]?.url ?? url, url].map((text) => URL.parse(text ?? '')?.hostname);
  return first === last && timings?.connect !== undefined;
}

/** The measured address, and of http those of its family that took no connection. */
function measuredBy(probeResult: ProbeResult): readonly string[] {
  const { resolvedIp, deadAddresses = [] } = probeResult.result as SparseResultOf<'http'>;
  const dead = deadAddresses.map(({ address }) => address).filter(isOf(resolvedFamily(probeResult)));
  return [...(resolvedIp === null || resolvedIp === undefined ? [] : [resolvedIp]), ...dead];
}

/** Addresses of the family that the probe used: it may have no connectivity in the other one. */
function addressesOfFamily(probeResult: ProbeResult): readonly string[] {
  const { addresses = [] } = probeResult.result as SparseResultOf<'ping'>;
  return addresses.filter(isOf(resolvedFamily(probeResult)));
}

function isOf(family: 'IPv4' | 'IPv6' | undefined): (address: string) => boolean {
  return (address) => family !== undefined && address.includes(':') === (family === 'IPv6');
}
