import { parseAddress, parseIpv4 } from './addresses/address.ts';
import { translatedIpv4 } from './addresses/embedded.ts';
import { formatPrefix, prefixOf } from './addresses/prefix.ts';
import type { NameResolver } from './resolver/resolver.ts';

/** Prefix lengths of NAT64 (RFC 6052 section 2.2), the longest first. */
const LENGTHS = [96, 64, 56, 48, 40, 32];
const wellKnown = new Set(['192.0.0.170', '192.0.0.171'].map((text) => parseIpv4(text)!.value));

/**
 * Discovers the prefixes of a NAT64 in the probe's network (RFC 7050: a DNS64 synthesises AAAA records for
 * ipv4only.arpa). Through them a client could reach private IPv4 addresses, so they belong in `others` of the agent's
 * own addresses. Empty if there is none, or if the resolver fails.
 *
 * @throws the reason of `signal`
 */
export async function discoverNat64Prefixes(resolver: NameResolver, signal: AbortSignal): Promise<readonly string[]> {
  const answer = await resolver.addresses('ipv4only.arpa', 6, signal);
  if (!answer.ok) return [];
  return [...new Set(answer.addresses.flatMap(translationPrefix))];
}

function translationPrefix(text: string): readonly string[] {
  const address = parseAddress(text);
  if (address?.family !== 6) return [];
  return LENGTHS.filter((length) => wellKnown.has(translatedIpv4(address.value, length))).map((length) =>
    formatPrefix(prefixOf(address, length)),
  );
}
