import { getDomain } from 'tldts';

import { parseAddress } from '../addresses/address.ts';
import { canonicalizeHost } from './canonical-host.ts';
import { formatPrefix, prefixOf } from '../addresses/prefix.ts';

/** Lengths of the prefixes that usually have one owner, by family. */
const NETWORK_BITS = { 4: 24, 6: 64 } as const;

/**
 * The key under which limits count a target. A name counts as its registrable domain, where private suffixes of the
 * Public Suffix List count as suffixes, or as itself if it has none; an address counts as its /24 or /64 network.
 *
 * @param host as a client may write it
 */
export function targetGroup(host: string): string {
  const read = canonicalizeHost(host, 'name');
  const text = read.ok ? read.canonical.text : host.toLowerCase();
  const address = read.ok && read.canonical.kind !== 'name' ? parseAddress(text) : undefined;
  if (address !== undefined) return formatPrefix(prefixOf(address, NETWORK_BITS[address.family]));
  return (
    getDomain(text, { allowPrivateDomains: true, extractHostname: false, validateHostname: false, detectIp: false }) ??
    text
  );
}
