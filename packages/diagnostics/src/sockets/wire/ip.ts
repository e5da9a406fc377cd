import type { Family } from '@vantage/contract';

import { addressText } from '@vantage/contract/address';
import { readU16 } from './bytes.ts';

/** Protocol numbers (IANA). */
export const IPPROTO = { icmp: 1, tcp: 6, udp: 17, icmpv6: 58 } as const;

export interface IpPacket {
  readonly protocol: number;
  readonly source: string;
  readonly destination: string;
  /** TTL or hop limit in the header. */
  readonly hopLimit: number;
  /** Differentiated services code point (RFC 2474). */
  readonly dscp: number;
  /** Length of the whole packet according to the header; it may be truncated. */
  readonly totalBytes: number;
  /** The received part of the data after header and extensions; in a quotation padding may follow. */
  readonly payload: Uint8Array;
}

/** Parses an IP packet or its beginning; undefined for other bytes and for later fragments. Never throws. */
export function parseIp(family: Family, bytes: Uint8Array): IpPacket | undefined {
  return family === 4 ? parseIpv4(bytes) : parseIpv6(bytes);
}

/**
 * Parses an IPv4 packet (RFC 791 section 3.1). Undefined for another version, a truncated header, and a fragment other
 * than the first: without a transport header it cannot be assigned.
 */
function parseIpv4(bytes: Uint8Array): IpPacket | undefined {
  if (bytes.length < 20 || bytes[0]! >> 4 !== 4) return undefined;
  const headerBytes = (bytes[0]! & 0xf) * 4;
  if (headerBytes < 20 || bytes.length < headerBytes || (readU16(bytes, 6) & 0x1fff) !== 0) return undefined;
  return {
    protocol: bytes[9]!,
    source: addressText(bytes.subarray(12, 16)),
    destination: addressText(bytes.subarray(16, 20)),
    hopLimit: bytes[8]!,
    dscp: bytes[1]! >> 2,
    totalBytes: readU16(bytes, 2),
    payload: bytes.subarray(headerBytes),
  };
}

/** Extension headers that are skipped (RFC 8200 section 4): hop-by-hop, routing, destination options. */
const extensionHeaders: ReadonlySet<number> = new Set([0, 43, 60]);
const FRAGMENT_HEADER = 44;

function parseIpv6(bytes: Uint8Array): IpPacket | undefined {
  if (bytes.length < 40 || bytes[0]! >> 4 !== 6) return undefined;
  let protocol = bytes[6]!;
  let offset = 40;
  while (extensionHeaders.has(protocol) || protocol === FRAGMENT_HEADER) {
    if (bytes.length < offset + 8) return undefined;
    if (protocol === FRAGMENT_HEADER && readU16(bytes, offset + 2) >> 3 !== 0) return undefined;
    const extensionBytes = protocol === FRAGMENT_HEADER ? 8 : (bytes[offset + 1]! + 1) * 8;
    protocol = bytes[offset]!;
    offset += extensionBytes;
  }
  return {
    protocol,
    source: addressText(bytes.subarray(8, 24)),
    destination: addressText(bytes.subarray(24, 40)),
    hopLimit: bytes[7]!,
    dscp: (readU16(bytes, 0) >> 6) & 0x3f,
    totalBytes: readU16(bytes, 4) + 40,
    payload: bytes.subarray(offset),
  };
}
