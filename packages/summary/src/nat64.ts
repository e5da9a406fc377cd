import { addressText, readAddress } from '@vantage/contract/address';

/** The prefixes that are for translation alone (RFC 6052 section 2.1, RFC 8215); networks may use others. */
const PREFIX = /^64:ff9b:(?::|1:)/i;

/** True for an address that a translator leads to an IPv4 address. */
export function isOfNat64(address: string): boolean {
  return PREFIX.test(address);
}

/** The IPv4 address at the end of such an address; undefined for others, and if the prefix has not the usual 96 bits. */
export function behindNat64(address: string): string | undefined {
  const bytes = isOfNat64(address) ? readAddress(address) : undefined;
  return bytes?.subarray(8, 12).every((byte) => byte === 0) === true ? addressText(bytes.subarray(12)) : undefined;
}
