import type { Address } from './address.ts';

/**
 * Whether an address cannot have a location: private, loopback, link-local, documentation, multicast, reserved,
 * carrier-grade NAT or a transition mechanism. Sources are not queried for it. The IANA special-purpose registries
 * (RFC 6890) as of 2026, and multicast. Anycast services announced as ordinary routes (AS112, 192.31.196.0/24,
 * 192.175.48.0/24) have a network and are looked up in the data.
 */
export function isSpecial({ family, bytes }: Address): boolean {
  if (family === 4) return SPECIAL_V4.some(([prefix, length]) => startsWith(bytes, prefix, length));
  // RFC 3587 section 3: IANA delegates global unicast addresses from 2000::/3 only.
  return !startsWith(bytes, [0x20], 3) || SPECIAL_V6.some(([prefix, length]) => startsWith(bytes, prefix, length));
}

type Prefix = readonly [bytes: readonly number[], length: number];

const SPECIAL_V4: readonly Prefix[] = [
  [[0], 8], // this network, RFC 791
  [[10], 8], // private, RFC 1918
  [[100, 64], 10], // carrier-grade NAT, RFC 6598
  [[127], 8], // loopback, RFC 1122
  [[169, 254], 16], // link-local, RFC 3927
  [[172, 16], 12], // private, RFC 1918
  [[192, 0, 0], 24], // protocol assignments, RFC 6890
  [[192, 0, 2], 24], // documentation, RFC 5737
  [[192, 88, 99], 24], // 6to4 relays, deprecated, RFC 7526
  [[192, 168], 16], // private, RFC 1918
  [[198, 18], 15], // benchmarking, RFC 2544
  [[198, 51, 100], 24], // documentation, RFC 5737
  [[203, 0, 113], 24], // documentation, RFC 5737
  [[224], 3], // multicast, RFC 5771, and reserved, RFC 1112
];

const SPECIAL_V6: readonly Prefix[] = [
  [[0x20, 0x01, 0x00], 23], // protocol assignments with Teredo and ORCHID, RFC 2928
  [[0x20, 0x01, 0x0d, 0xb8], 32], // documentation, RFC 3849
  [[0x20, 0x02], 16], // 6to4, RFC 3056
  [[0x3f, 0xff, 0x00], 20], // documentation, RFC 9637
];

function startsWith(bytes: Uint8Array, prefix: readonly number[], length: number): boolean {
  for (let i = 0; i * 8 < length; i += 1) {
    const mask = 0xff00 >> Math.min(8, length - i * 8);
    if ((bytes[i]! & mask & 0xff) !== (prefix[i] ?? 0)) return false;
  }
  return true;
}
