import type { Family } from '@vantage/contract';

import { formatIpv6, parseIpv6 } from './ipv6-text.ts';

/** An address as a number of 32 or 128 bits, so that different texts of one address are equal. */
export interface Address {
  readonly family: Family;
  readonly value: bigint;
}

export const ADDRESS_BITS: Readonly<Record<Family, number>> = { 4: 32, 6: 128 };

const OCTET = '(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const DOTTED_QUAD = new RegExp(`^${OCTET}\\.${OCTET}\\.${OCTET}\\.${OCTET}$`);

/** Parses an IPv4 or IPv6 literal in its unambiguous forms only; undefined for anything else. */
export function parseAddress(text: string): Address | undefined {
  return parseIpv4(text) ?? parseIpv6Address(text);
}

/** Strict dotted quad: four decimal octets without leading zeros. `127.1`, `0177.0.0.1` and `2130706433` are none. */
export function parseIpv4(text: string): Address | undefined {
  const octets = DOTTED_QUAD.exec(text);
  if (octets === null) return undefined;
  const value = octets.slice(1).reduce((sum, octet) => sum * 256 + Number(octet), 0);
  return { family: 4, value: BigInt(value) };
}

/** Strict RFC 4291 section 2.2 text, without a zone and without brackets. */
export function parseIpv6Address(text: string): Address | undefined {
  const value = parseIpv6(text, (quad) => parseIpv4(quad)?.value);
  return value === undefined ? undefined : { family: 6, value };
}

/** Dotted quad, or RFC 5952 text. */
export function formatAddress({ family, value }: Address): string {
  return family === 4 ? formatIpv4(value) : formatIpv6(value, formatIpv4);
}

function formatIpv4(value: bigint): string {
  const number = Number(value);
  return [number >>> 24, (number >>> 16) & 255, (number >>> 8) & 255, number & 255].join('.');
}
