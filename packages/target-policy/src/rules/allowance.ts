import { ADDRESS_BITS } from '../addresses/address.ts';
import { classifyPrefix, isAllLinkLocalOrMetadata } from '../addresses/classify.ts';
import { covers, parsePrefix, type Prefix } from '../addresses/prefix.ts';
import { specialData } from '../addresses/special-data.ts';

/** Prefixes whose addresses denote no single host. */
const noHosts = ['0.0.0.0/8', '224.0.0.0/4', '255.255.255.255/32', '::/128', 'ff00::/8'].map((cidr) =>
  parsePrefix(cidr)!,
);
const refusedRanges = specialData.ranges.filter(({ refuse }) => refuse).map(({ cidr }) => parsePrefix(cidr)!);

/**
 * Why a network cannot be allowed to a client beyond the policy, or need not be; undefined if the allowance is possible
 * and useful. The text completes the sentence “<network> …”.
 *
 * @param text a CIDR or an address that the policy reads
 */
export function uselessAllowance(text: string): string | undefined {
  const prefix = parsePrefix(text);
  if (prefix === undefined) return undefined;
  const { name } = classifyPrefix(prefix).rule;
  if (isAllLinkLocalOrMetadata(prefix)) {
    return `cannot be allowed (${name}): link-local and metadata addresses may give control of a machine`;
  }
  if (noHosts.some((none) => covers(none, prefix))) return `cannot be allowed (${name}): a check measures one host`;
  return isAllPublic(prefix) ? 'is public: it needs no allowance, and none restricts a key' : undefined;
}

function isAllPublic(prefix: Prefix): boolean {
  if (classifyPrefix(prefix).refused) return false;
  // An IPv6 network may contain addresses that embed a refused IPv4 address.
  if (prefix.family === 6 && prefix.length < ADDRESS_BITS[6]) return false;
  return !refusedRanges.some((range) => covers(prefix, range));
}
