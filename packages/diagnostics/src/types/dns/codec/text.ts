import { MessageFormatError } from '@vantage/contract/dns-message';

/** Length of the groups into which `dig` splits long hexadecimal and base64 fields. */
const GROUP = 56;

/** Base64 (RFC 4648 section 4) in groups. */
export function base64Groups(bytes: Uint8Array): string {
  return inGroups(base64(bytes));
}

export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
}

/** Upper-case hexadecimal in groups. */
export function hexGroups(bytes: Uint8Array): string {
  return inGroups(hex(bytes));
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex').toUpperCase();
}

/** Base32 with the extended hex alphabet, no padding (RFC 4648 section 7), as NSEC3 uses it (RFC 5155 section 3.3). */
export function base32Hex(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let pending = 0;
  for (const byte of bytes) {
    pending = ((pending << 8) | byte) & 0xff_ff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += BASE32_HEX[(pending >> bits) & 31]!;
    }
  }
  return bits === 0 ? text : text + BASE32_HEX[(pending << (5 - bits)) & 31]!;
}

const BASE32_HEX = '0123456789ABCDEFGHIJKLMNOPQRSTUV';

/** A character-string in quotes: RFC 1035 section 5.1, with every octet that is not printable ASCII as `\DDD`. */
export function quoted(bytes: Uint8Array): string {
  return `"${escapeOctets(bytes, '"\\')}"`;
}

/**
 * @param special characters that get a backslash
 */
export function escapeOctets(bytes: Uint8Array, special: string): string {
  let text = '';
  for (const byte of bytes) {
    const character = String.fromCharCode(byte);
    if (byte < 0x20 || byte >= 0x7f) text += `\\${String(byte).padStart(3, '0')}`;
    else text += special.includes(character) ? `\\${character}` : character;
  }
  return text;
}

export function ipv4Text(bytes: Uint8Array): string {
  if (bytes.length !== 4) throw new MessageFormatError('an IPv4 address has 4 octets');
  return bytes.join('.');
}

/**
 * An IPv6 address as RFC 5952 writes it. Addresses of `::ffff:0:0/96`, and of `::/96` above `::ffff`, end in a dotted
 * quad, as inet_ntop writes them.
 */
export function ipv6Text(bytes: Uint8Array): string {
  if (bytes.length !== 16) throw new MessageFormatError('an IPv6 address has 16 octets');
  const groups = Array.from({ length: 8 }, (_, at) => bytes[at * 2]! * 0x1_00 + bytes[at * 2 + 1]!);
  const run = longestZeroRun(groups);
  const embedsIpv4 = run.start === 0 && (run.length === 6 || (run.length === 5 && groups[5] === 0xff_ff));
  if (embedsIpv4) return `${run.length === 6 ? '::' : '::ffff:'}${ipv4Text(bytes.subarray(12))}`;
  const hexOf = (part: readonly number[]): string => part.map((group) => group.toString(16)).join(':');
  if (run.length < 2) return hexOf(groups);
  return `${hexOf(groups.slice(0, run.start))}::${hexOf(groups.slice(run.start + run.length))}`;
}

function longestZeroRun(groups: readonly number[]): { readonly start: number; readonly length: number } {
  let best = { start: -1, length: 0 };
  let length = 0;
  for (const [at, group] of groups.entries()) {
    length = group === 0 ? length + 1 : 0;
    if (length > best.length) best = { start: at - length + 1, length };
  }
  return best;
}

function inGroups(text: string): string {
  return text.match(new RegExp(`.{1,${GROUP}}`, 'g'))?.join(' ') ?? '';
}
