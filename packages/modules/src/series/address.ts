import { readAddress } from '@vantage/contract/address';

import { gauge, seconds, type Sample } from './families.ts';

/**
 * The series about the target's address.
 *
 * @param resolveMs undefined if the result does not have it
 */
export function addressSeries(address: string | null | undefined, resolveMs: number | undefined): readonly Sample[] {
  const bytes = readAddress(address ?? '');
  const family = bytes === undefined ? 0 : { 4: 4, 16: 6 }[bytes.length]!;
  return [
    gauge('probe_ip_protocol', family),
    gauge('probe_ip_addr_hash', bytes === undefined ? 0 : fnv1a(bytes)),
    ...(resolveMs === undefined ? [] : [gauge('probe_dns_lookup_time_seconds', seconds(resolveMs))]),
  ];
}

/** FNV-1a with 32 bits, as blackbox_exporter hashes addresses. */
function fnv1a(bytes: Uint8Array): number {
  return bytes.reduce((hash, byte) => Math.imul(hash ^ byte, 0x01_00_01_93) >>> 0, 0x81_1c_9d_c5);
}
