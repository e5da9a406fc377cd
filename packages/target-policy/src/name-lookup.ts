import { escapeText, type NameLookup } from '@vantage/contract';

import { formatAddress, parseAddress } from './addresses/address.ts';
import { canonicalizeHost } from './hosts/canonical-host.ts';
import { isPrivateAddress } from './addresses/classify.ts';
import { evaluateName } from './rules/evaluate-name.ts';
import { createTargetPolicy } from './rules/policy.ts';
import type { NameResolver } from './resolver/resolver.ts';

export interface NameLookupOptions {
  readonly resolver: NameResolver;
  /** Whether names of private addresses are looked up: the resolver may know names of the operator's network. */
  readonly showPrivateAddresses: boolean;
}

const MAX_NAMES = 8;
const MAX_NAME_CODE_POINTS = 255;
const MAX_ADDRESSES = 100;

/**
 * Lookups whose results are shown but never connected to. An abort by `signal` counts as a failure. A PTR record is
 * untrusted text: `forward` only queries names that the built-in rules for names allow.
 */
export function createNameLookup({ resolver, showPrivateAddresses }: NameLookupOptions): NameLookup {
  const policy = createTargetPolicy();
  return {
    reverse: async (text, signal) => {
      const address = parseAddress(text);
      if (address === undefined || (!showPrivateAddresses && isPrivateAddress(text))) return [];
      const names = (await orNothing(resolver.reverse(formatAddress(address), signal))) ?? [];
      return names.slice(0, MAX_NAMES).map((name) => escapeText(name, MAX_NAME_CODE_POINTS));
    },
    forward: async (name, family, signal) => {
      const host = canonicalizeHost(name, 'host');
      if (!host.ok || host.canonical.kind !== 'name') return null;
      if (evaluateName(host.canonical.text, 'connect', policy) !== undefined) return null;
      const answer = await orNothing(resolver.addresses(host.canonical.text, family, signal));
      if (answer?.ok === true) return answer.addresses.slice(0, MAX_ADDRESSES);
      const code = answer?.failure.code;
      return code === 'dns_nxdomain' || code === 'dns_no_address' ? [] : null;
    },
  };
}

/** The answer; undefined if the resolver rejects, which it does only when the signal aborts. */
async function orNothing<Answer>(answer: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await answer;
  } catch {
    return undefined;
  }
}
