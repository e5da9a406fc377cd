import type { FailureCode } from '@vantage/contract';

import { parseAddress, parseIpv4 } from './addresses/address.ts';
import { translatedIpv4 } from './addresses/embedded.ts';
import { formatPrefix, prefixOf } from './addresses/prefix.ts';
import type { DiscoveredAddresses } from './own/own-addresses.ts';
import type { NameResolver } from './resolver/resolver.ts';

/** Prefix lengths of NAT64 (RFC 6052 section 2.2), the longest first. */
const LENGTHS = [96, 64, 56, 48, 40, 32];
const wellKnown = new Set(['192.0.0.170', '192.0.0.171'].map((text) => parseIpv4(text)!.value));

/**
 * Discovers the prefixes of a NAT64 in the probe's network (RFC 7050: a DNS64 synthesises AAAA records for
 * ipv4only.arpa). Through them a client could reach private IPv4 addresses, so they belong in `others` of the agent's
 * own addresses. Empty if there is none; undefined if the resolver fails.
 *
 * @throws the reason of `signal`
 */
export async function discoverNat64Prefixes(
  resolver: NameResolver,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  const answer = await resolver.addresses('ipv4only.arpa', 6, signal);
  if (!answer.ok) return hasNone.has(answer.failure.code) ? [] : undefined;
  return [...new Set(answer.addresses.flatMap(translationPrefix))];
}

/** Failures that mean that the name has no AAAA record. */
const hasNone: ReadonlySet<FailureCode> = new Set(['dns_no_address', 'dns_nxdomain']);

const WITHIN_MS = 2_000;
/** Time after which prefixes are discovered again: those of a network seldom change. */
const AGAIN_AFTER_MS = 600_000;
const AGAIN_AFTER_FAILURE_MS = 30_000;

export interface Nat64PrefixesOptions {
  readonly resolver: NameResolver;
  /** Returns the same object while the addresses, routes and resolvers of the machine are the same. */
  readonly ownAddresses: () => DiscoveredAddresses;
  /** Monotonic clock, milliseconds. */
  readonly nowMs?: () => number;
}

/** The agent's own addresses with the NAT64 prefixes of its network. */
export interface WithNat64Prefixes {
  /** The same object while nothing has changed. */
  readonly ownAddresses: () => DiscoveredAddresses;
  /**
   * Discovers the prefixes if they are due: the network is new or has changed, the last attempt failed, or some time
   * has passed. Needs IPv6. If the resolver fails, the known prefixes remain. Never rejects.
   */
  readonly poll: () => Promise<void>;
}

export function withNat64Prefixes({
  resolver,
  ownAddresses,
  nowMs = () => performance.now(),
}: Nat64PrefixesOptions): WithNat64Prefixes {
  let seen: DiscoveredAddresses | undefined;
  let dueAt = Number.NEGATIVE_INFINITY;
  let prefixes: readonly string[] = [];
  let made:
    | { readonly of: DiscoveredAddresses; readonly prefixes: readonly string[]; readonly all: DiscoveredAddresses }
    | undefined;
  return {
    ownAddresses: () => {
      const of = ownAddresses();
      if (prefixes.length === 0) return of;
      if (made?.of !== of || made.prefixes !== prefixes) {
        made = { of, prefixes, all: { ...of, others: [...(of.others ?? []), ...prefixes] } };
      }
      return made.all;
    },
    poll: async () => {
      const now = ownAddresses();
      if (!now.connectivity.ipv6 || (now === seen && nowMs() < dueAt)) return;
      seen = now;
      // A poll in progress is not repeated.
      dueAt = Number.POSITIVE_INFINITY;
      const found = await discoverNat64Prefixes(resolver, AbortSignal.timeout(WITHIN_MS)).catch(() => undefined);
      // The network changed meanwhile: the answer may be of the former one.
      if (seen !== now) return;
      dueAt = nowMs() + (found === undefined ? AGAIN_AFTER_FAILURE_MS : AGAIN_AFTER_MS);
      if (found !== undefined && JSON.stringify(found) !== JSON.stringify(prefixes)) prefixes = found;
    },
  };
}

function translationPrefix(text: string): readonly string[] {
  const address = parseAddress(text);
  if (address?.family !== 6) return [];
  return LENGTHS.filter((length) => wellKnown.has(translatedIpv4(address.value, length))).map((length) =>
    formatPrefix(prefixOf(address, length)),
  );
}
