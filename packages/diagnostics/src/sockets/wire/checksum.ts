import { addressBytes } from '@vantage/contract/address';

/** The Internet checksum (RFC 1071) of the parts as if they were one; each but the last has an even length. */
export function checksum(...parts: readonly Uint8Array[]): number {
  return ~onesComplementSum(...parts) & 0xffff;
}

/** One's complement sum of 16-bit words; 0xffff for data that contains its own correct checksum. */
export function onesComplementSum(...parts: readonly Uint8Array[]): number {
  let sum = 0;
  for (const part of parts) {
    for (let index = 0; index < part.length; index += 2) sum += (part[index]! << 8) | (part[index + 1] ?? 0);
  }
  return fold(sum);
}

/** Adds the carries back in (RFC 1071 section 2). */
export function fold(sum: number): number {
  let folded = sum;
  while (folded > 0xffff) folded = (folded & 0xffff) + Math.floor(folded / 0x10000);
  return folded;
}

/**
 * The pseudo header that a UDP, TCP or ICMPv6 checksum covers: over IPv4 that of RFC 768 and RFC 9293 section 3.1, over
 * IPv6 that of RFC 8200 section 8.1.
 */
export function pseudoHeader(source: string, destination: string, protocol: number, length: number): Uint8Array {
  const from = addressBytes(source);
  const to = addressBytes(destination);
  const isIpv4 = from.length === 4;
  const tail = isIpv4
    ? [0, protocol, length >> 8, length & 0xff]
    : [0, 0, length >> 8, length & 0xff, 0, 0, 0, protocol];
  return Uint8Array.from([...from, ...to, ...tail]);
}
