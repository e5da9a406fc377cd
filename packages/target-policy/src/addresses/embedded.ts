import type { Address } from './address.ts';

const LOW_32 = 0xffffffffn;

/** Prefixes whose addresses end in an IPv4 address, each given by its upper 96 bits. */
const carriedInTheLast32Bits: ReadonlySet<bigint> = new Set([
  0n, // ::/96, IPv4-compatible, RFC 4291 section 2.5.5.1
  0xffffn, // ::ffff:0:0/96, IPv4-mapped, RFC 4291 section 2.5.5.2
  0xffff0000n, // ::ffff:0:0:0/96, IPv4-translated, RFC 2765
  0x64ff9b0000000000000000n, // 64:ff9b::/96, NAT64, RFC 6052
]);

const ISATAP_IDENTIFIER = 0x5efen;

/**
 * The IPv4 addresses embedded in an IPv6 address, to which a translator or tunnel may forward the packet. `::` and
 * `::1` are not IPv4-compatible addresses.
 */
export function embeddedIpv4({ family, value }: Address): readonly Address[] {
  if (family === 4 || value <= 1n) return [];
  const last = value & LOW_32;
  if (carriedInTheLast32Bits.has(value >> 32n)) return [ipv4(last)];
  // 64:ff9b:1::/48, RFC 8215: the operator chooses the length; the two usual ones are /96 and /48 (RFC 6052 section
  // 2.2).
  if (value >> 80n === 0x64ff9b0001n) return [ipv4(last), ipv4(translatedIpv4(value, 48))];
  // 2002::/16, 6to4, RFC 3056 section 2.
  if (value >> 112n === 0x2002n) return [ipv4((value >> 80n) & LOW_32)];
  // 2001::/32, Teredo, RFC 4380 section 4: the server, and the client with all bits inverted.
  if (value >> 96n === 0x20010000n) return [ipv4((value >> 64n) & LOW_32), ipv4(last ^ LOW_32)];
  // RFC 5214 section 6.1: 0000:5efe or 0200:5efe, then the IPv4 address.
  if (((value >> 32n) & 0xfdffffffn) === ISATAP_IDENTIFIER) return [ipv4(last)];
  return [];
}

/**
 * The 32 bits at the position that RFC 6052 section 2.2 defines for a prefix length: they skip bits 64 to 71 if the
 * prefix is shorter than 96 bits.
 */
export function translatedIpv4(value: bigint, prefixLength: number): bigint {
  if (prefixLength === 96) return value & LOW_32;
  const withoutOctet = ((value >> 64n) << 56n) | (value & 0xffffffffffffffn);
  return (withoutOctet >> BigInt(120 - prefixLength - 32)) & LOW_32;
}

function ipv4(value: bigint): Address {
  return { family: 4, value };
}
