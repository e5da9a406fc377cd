import { isIPv6 } from 'node:net';

/** A parsed address for lookups. */
export interface Address {
  readonly family: 4 | 6;
  /** Unambiguous text: no IPv4 in IPv6, no zone. */
  readonly text: string;
  /** 4 or 16 bytes, network order. */
  readonly bytes: readonly number[];
}

/** Parses an address; any spelling of `::ffff:a.b.c.d` becomes the IPv4 address. `null` for anything else. */
export function parseAddress(text: string): Address | null {
  const v4 = parseIpv4(text);
  if (v4 !== null) return { family: 4, text, bytes: v4 };
  if (text.length > 45 || !isIPv6(text) || text.includes('%')) return null;
  const bytes = parseIpv6(text);
  if (!isMapped(bytes)) return { family: 6, text: text.includes('.') ? formatIpv6(bytes) : text, bytes };
  const tail = bytes.slice(12);
  return { family: 4, text: tail.join('.'), bytes: tail };
}

/** The network of `length` bits that holds the address, as CIDR text (RFC 5952 for IPv6). */
export function prefixOf(address: Address, length: number): string {
  const masked = address.bytes.map((byte, index) => byte & (0xff00 >> Math.min(8, Math.max(0, length - index * 8))));
  return `${address.family === 4 ? masked.join('.') : formatIpv6(masked)}/${length}`;
}

/** Strict dotted decimal, without the octal and short forms that `inet_aton` accepts. */
function parseIpv4(text: string): number[] | null {
  if (text.length < 7 || text.length > 15) return null;
  const bytes = [0, 0, 0, 0];
  let octet = 0;
  let digits = 0;
  let dots = 0;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === DOT) {
      if (digits === 0 || dots === 3) return null;
      bytes[dots] = octet;
      dots += 1;
      octet = 0;
      digits = 0;
    } else {
      if (code < ZERO || code > NINE || (digits > 0 && octet === 0)) return null;
      octet = octet * 10 + code - ZERO;
      digits += 1;
      if (octet > 255) return null;
    }
  }
  if (dots !== 3 || digits === 0) return null;
  bytes[3] = octet;
  return bytes;
}

const DOT = 46;
const ZERO = 48;
const NINE = 57;

/** Only for text that `isIPv6` accepts. */
function parseIpv6(text: string): number[] {
  const gap = text.indexOf('::');
  if (gap === -1) return bytesOfGroups(text);
  const head = bytesOfGroups(text.slice(0, gap));
  const tail = bytesOfGroups(text.slice(gap + 2));
  return [...head, ...Array<number>(16 - head.length - tail.length).fill(0), ...tail];
}

function bytesOfGroups(text: string): number[] {
  const bytes: number[] = [];
  if (text === '') return bytes;
  for (const group of text.split(':')) {
    if (group.includes('.')) bytes.push(...group.split('.').map(Number));
    else {
      const value = Number.parseInt(group, 16);
      bytes.push(value >> 8, value & 0xff);
    }
  }
  return bytes;
}

function isMapped(bytes: readonly number[]): boolean {
  for (let i = 0; i < 10; i += 1) if (bytes[i] !== 0) return false;
  return bytes[10] === 0xff && bytes[11] === 0xff;
}

/** RFC 5952 section 4: lower case, no leading zeros, the first longest run of two or more zero groups as `::`. */
function formatIpv6(bytes: readonly number[]): string {
  const groups = Array.from({ length: 8 }, (_, i) => ((bytes[i * 2]! << 8) | bytes[i * 2 + 1]!).toString(16));
  let start = 0;
  let longest = 1;
  for (let i = 0; i < 8; i += 1) {
    let end = i;
    while (groups[end] === '0') end += 1;
    if (end - i > longest) [start, longest] = [i, end - i];
  }
  if (longest === 1) return groups.join(':');
  return `${groups.slice(0, start).join(':')}::${groups.slice(start + longest).join(':')}`;
}
