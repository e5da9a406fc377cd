/** The longest text: six groups of four digits and a dotted quad. */
const MAX_LENGTH = 45;

const ZERO = '0'.charCodeAt(0);
const GROUP = /^[0-9a-f]{1,4}$/i;

/**
 * Parses an address literal: a dotted quad of four decimal octets without leading zeros, or the text of RFC 4291
 * section 2.2. Zones, brackets and the short, octal and decimal forms of `inet_aton` are not accepted.
 *
 * @returns 4 or 16 bytes in network order; undefined for any other text
 */
export function readAddress(text: string): Uint8Array | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  if (text.includes(':')) return readIpv6(text);
  const octets = readDottedQuad(text);
  return octets === undefined ? undefined : Uint8Array.from(octets);
}

/**
 * The 4 or 16 bytes of an address.
 *
 * @throws RangeError if `readAddress` does not accept the text
 */
export function addressBytes(text: string): Uint8Array {
  const bytes = readAddress(text);
  if (bytes === undefined) throw new RangeError('Not an IP address.');
  return bytes;
}

/** The bytes of `a.b.c.d` in `::ffff:a.b.c.d` (RFC 4291 section 2.5.5.2); undefined for every other address. */
export function mappedIpv4(bytes: Uint8Array): Uint8Array | undefined {
  const isMapped = bytes.length === 16 && bytes[10] === 0xff && bytes[11] === 0xff && isZero(bytes, 10);
  return isMapped ? bytes.subarray(12) : undefined;
}

/** Dotted quad, or the text of RFC 5952, which has an IPv4-mapped address as `::ffff:a.b.c.d`. */
export function addressText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.');
  const ipv4 = mappedIpv4(bytes);
  return ipv4 === undefined ? ipv6Text(bytes) : `::ffff:${ipv4.join('.')}`;
}

/** The network of `length` bits that contains the address, as CIDR text. */
export function networkText(bytes: Uint8Array, length: number): string {
  const masked = bytes.map((byte, index) => byte & (0xff00 >> Math.min(8, Math.max(0, length - index * 8))));
  return `${addressText(masked)}/${length}`;
}

/** Uses no regular expression, because each match would allocate an object. */
function readDottedQuad(text: string): readonly number[] | undefined {
  const octets: number[] = [];
  let octet: number | undefined;
  for (let at = 0; at <= text.length; at += 1) {
    const digit = text.charCodeAt(at) - ZERO;
    if (at === text.length || text[at] === '.') {
      if (octet === undefined || octets.length === 4) return undefined;
      octets.push(octet);
      octet = undefined;
    } else {
      // An octet of 0 with a further digit has a leading zero, as in the octal form.
      if (digit < 0 || digit > 9 || octet === 0) return undefined;
      octet = (octet ?? 0) * 10 + digit;
      if (octet > 255) return undefined;
    }
  }
  return octets.length === 4 ? octets : undefined;
}

/** Parses an IPv6 address, in which `::` replaces at least one group. */
function readIpv6(text: string): Uint8Array | undefined {
  const gap = text.indexOf('::');
  const head = readGroups(gap === -1 ? text : text.slice(0, gap), gap === -1);
  const tail = gap === -1 ? [] : readGroups(text.slice(gap + 2), true);
  if (head === undefined || tail === undefined) return undefined;
  const missing = 16 - head.length - tail.length;
  if (gap === -1 ? missing !== 0 : missing < 2) return undefined;
  const bytes = new Uint8Array(16);
  bytes.set(head);
  bytes.set(tail, 16 - tail.length);
  return bytes;
}

/** @param isLast true if the text ends the address, so that its last two groups may be a dotted quad */
function readGroups(text: string, isLast: boolean): readonly number[] | undefined {
  if (text === '') return [];
  const bytes: number[] = [];
  const groups = text.split(':');
  for (const [index, group] of groups.entries()) {
    if (GROUP.test(group)) {
      const value = Number.parseInt(group, 16);
      bytes.push(value >> 8, value & 0xff);
      continue;
    }
    const quad = isLast && index === groups.length - 1 ? readDottedQuad(group) : undefined;
    if (quad === undefined) return undefined;
    bytes.push(...quad);
  }
  return bytes;
}

/** Lower case, no leading zeros, the first longest run of two or more zero groups as `::` (RFC 5952 section 4). */
function ipv6Text(bytes: Uint8Array): string {
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

function isZero(bytes: Uint8Array, length: number): boolean {
  for (let i = 0; i < length; i += 1) if (bytes[i] !== 0) return false;
  return true;
}
