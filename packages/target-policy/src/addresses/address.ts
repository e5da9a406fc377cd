import type { Family } from '@vantage/contract';
import { addressText, readAddress } from '@vantage/contract/address';

/** An address as a number of 32 or 128 bits, so that different notations of one address are equal. */
export interface Address {
  readonly family: Family;
  readonly value: bigint;
}

export const ADDRESS_BITS: Readonly<Record<Family, number>> = { 4: 32, 6: 128 };

/** Parses an IPv4 or IPv6 literal in its unambiguous forms only; undefined for anything else. */
export function parseAddress(text: string): Address | undefined {
  const bytes = readAddress(text);
  return bytes === undefined ? undefined : { family: bytes.length === 4 ? 4 : 6, value: valueOf(bytes) };
}

/**
 * Reads a strict dotted quad: four decimal octets without leading zeros. Undefined for `127.1`, `0177.0.0.1`,
 * `2130706433` and any other text.
 */
export function parseIpv4(text: string): Address | undefined {
  return ofFamily(4, text);
}

/** Strict RFC 4291 section 2.2 text, without a zone and without brackets. */
export function parseIpv6(text: string): Address | undefined {
  return ofFamily(6, text);
}

/** Formats an address as a dotted quad, or as RFC 5952 text. */
export function formatAddress({ family, value }: Address): string {
  return addressText(Buffer.from(value.toString(16).padStart(ADDRESS_BITS[family] / 4, '0'), 'hex'));
}

function ofFamily(family: Family, text: string): Address | undefined {
  const address = parseAddress(text);
  return address?.family === family ? address : undefined;
}

function valueOf(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
}
