import { isIP, SocketAddress } from 'node:net';

import { gauge, seconds, type Sample } from './families.ts';

/**
 * The series about the target's address.
 *
 * @param resolveMs undefined if the result does not have it
 */
export function addressSeries(address: string | null | undefined, resolveMs: number | undefined): readonly Sample[] {
  const family = isIP(address ?? '');
  return [
    gauge('probe_ip_protocol', family),
    gauge('probe_ip_addr_hash', family === 0 ? 0 : fnv1a(bytesOf(address!))),
    ...(resolveMs === undefined ? [] : [gauge('probe_dns_lookup_time_seconds', seconds(resolveMs))]),
  ];
}

/** FNV-1a with 32 bits, as blackbox_exporter hashes addresses. */
function fnv1a(bytes: readonly number[]): number {
  return bytes.reduce((hash, byte) => Math.imul(hash ^ byte, 0x01_00_01_93) >>> 0, 0x81_1c_9d_c5);
}

function bytesOf(address: string): readonly number[] {
  if (isIP(address) === 4) return address.split('.').map(Number);
  const { address: canonical } = new SocketAddress({ address, family: 'ipv6' });
  const quad = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(canonical);
  const hex = (high: string, low: string): string => ((Number(high) << 8) | Number(low)).toString(16);
  const text = quad === null ? canonical : `${quad[1]}${hex(quad[2]!, quad[3]!)}:${hex(quad[4]!, quad[5]!)}`;
  const [head = '', tail] = text.split('::');
  const words = (part: string): readonly string[] => (part === '' ? [] : part.split(':'));
  const back = words(tail ?? '');
  const zeros = tail === undefined ? 0 : 8 - words(head).length - back.length;
  const all = [...words(head), ...Array.from({ length: zeros }, () => '0'), ...back];
  return all.flatMap((word) => [Number.parseInt(word, 16) >> 8, Number.parseInt(word, 16) & 0xff]);
}
