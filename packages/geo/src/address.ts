import { addressText, mappedIpv4, readAddress } from '@vantage/contract/address';

/** A parsed address for lookups. */
export interface Address {
  readonly family: 4 | 6;
  /**
   * The given text, except that an IPv4-mapped address becomes IPv4, and a dotted quad in another IPv6 address becomes
   * hexadecimal.
   */
  readonly text: string;
  /** 4 or 16 bytes, network order. */
  readonly bytes: Uint8Array;
}

/** Parses an address; any spelling of `::ffff:a.b.c.d` becomes the IPv4 address. `null` for anything else. */
export function parseAddress(text: string): Address | null {
  const bytes = readAddress(text);
  if (bytes === undefined) return null;
  if (bytes.length === 4) return { family: 4, text, bytes };
  const ipv4 = mappedIpv4(bytes);
  if (ipv4 !== undefined) return { family: 4, text: addressText(ipv4), bytes: ipv4 };
  return { family: 6, text: text.includes('.') ? addressText(bytes) : text, bytes };
}
