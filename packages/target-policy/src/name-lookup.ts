import { escapeText, type NameLookup } from '@vantage/contract';

import { formatAddress, parseAddress } from './address.ts';
import { canonicalizeHost } from './canonical-host.ts';
import { isPrivateAddress } from './classify.ts';
import { judgeName } from './names.ts';
import { createTargetPolicy } from './policy.ts';
import { allAddresses, resolveOnce } from './resolution.ts';
import type { NameResolver } from './resolver.ts';

export interface NameLookupOptions {
  readonly resolver: NameResolver;
  /** Whether names of private addresses are asked for: the resolver may know those of the operator's own network. */
  readonly showPrivateAddresses: boolean;
}

const MAX_NAMES = 8;
const MAX_NAME_CODE_POINTS = 255;
const MAX_ADDRESSES = 32;

/**
 * Look-ups whose answers are shown and never connected to. Both come back empty when `signal` aborts, as for every other
 * failure. A PTR record is a stranger's text: `forward` asks only for names that the rules for names admit.
 */
export function createNameLookup({ resolver, showPrivateAddresses }: NameLookupOptions): NameLookup {
  const policy = createTargetPolicy();
  return {
    reverse: async (text, signal) => {
      const address = parseAddress(text);
      if (address === undefined || (!showPrivateAddresses && isPrivateAddress(text))) return [];
      const names = await orEmpty(resolver.reverse(formatAddress(address), signal));
      return names.slice(0, MAX_NAMES).map((name) => escapeText(name, MAX_NAME_CODE_POINTS));
    },
    forward: async (name, signal) => {
      const host = canonicalizeHost(name, 'host');
      if (!host.ok || host.canonical.kind !== 'name') return [];
      if (judgeName(host.canonical.text, 'connect', policy) !== undefined) return [];
      const request = { name: host.canonical.text, prefersIpv4: false };
      const addresses = await orEmpty(resolveOnce(request, resolver, signal).then(allAddresses));
      return addresses.slice(0, MAX_ADDRESSES);
    },
  };
}

/** The resolver rejects with the reason of the signal alone. */
async function orEmpty(answer: Promise<readonly string[]>): Promise<readonly string[]> {
  try {
    return await answer;
  } catch {
    return [];
  }
}
