import { parse } from 'tldts';

import { evaluatePrefix, type TargetPolicy } from './policy.ts';
import { refusal, type Refusal } from './refusal.ts';
import { reversedPrefix } from '../hosts/reversed-name.ts';
import { specialData } from '../addresses/special-data.ts';

/** `connect`: packets are sent to the name's addresses. `question`: a DNS server is queried for the name. */
export type NameUse = 'connect' | 'question';

const specialNames = new Map(specialData.hosts.map((row) => [row.name, row]));
/** Names under arpa may be queried, except special-use names (RFC 6761), which have separate rows. */
const questionable: ReadonlySet<string> = new Set(['arpa', 'in-addr.arpa', 'ip6.arpa']);

/** Why the policy refuses a canonical name, or undefined. Nothing is resolved. */
export function evaluateName(name: string, use: NameUse, policy: TargetPolicy): Refusal | undefined {
  const domains = selfAndParents(name);
  if (domains.some((domain) => policy.denyNames.has(domain))) {
    return refusal('name_denied', `The operator of this service does not let ${name} be measured.`);
  }
  if (domains.some((domain) => policy.allowNames.has(domain))) return undefined;
  if (name === '.') return use === 'question' ? undefined : refusal('name_special', 'The root has no address.');
  if (use === 'question')
    return evaluateReversed(name, policy) ?? evaluateSpecial(name, domains, use) ?? evaluateSuffix(name);
  return evaluateSpecial(name, domains, use) ?? evaluateSuffix(name);
}

/**
 * A name under in-addr.arpa or ip6.arpa reveals data of the reversed address or prefix, so it is refused if that is.
 * Undefined if that is admitted, for the two zones themselves, and for all other names.
 */
function evaluateReversed(name: string, policy: TargetPolicy): Refusal | undefined {
  const prefix = reversedPrefix(name);
  if (prefix === undefined || prefix.length === 0) return undefined;
  const standing = evaluatePrefix(prefix, policy);
  return typeof standing === 'string'
    ? undefined
    : refusal('name_reversed_address', `The name reverses a refused address: ${standing.message}`);
}

function evaluateSpecial(name: string, domains: readonly string[], use: NameUse): Refusal | undefined {
  const row = domains
    .map((domain) => specialNames.get(domain))
    .find((found) => found !== undefined && (found.match === 'suffix' || found.name === name));
  if (row === undefined || !row.refuse) return undefined;
  if (use === 'question' && questionable.has(row.name)) return undefined;
  return refusal(
    'name_special',
    `${name} is ${row.name === name ? '' : `under ${row.name}, `}a special-use name (${row.source}).`,
  );
}

/**
 * Why a name under an unknown public suffix is refused, or undefined. tldts only finds the suffix; it validates
 * nothing.
 */
function evaluateSuffix(name: string): Refusal | undefined {
  const { isIcann, publicSuffix } = parse(name, {
    allowPrivateDomains: false,
    extractHostname: false,
    validateHostname: false,
    detectIp: false,
  });
  if (isIcann === true) return undefined;
  return refusal('name_unknown_suffix', `${publicSuffix ?? name} is not a public suffix of the Internet's DNS.`);
}

/** The name and its parent domains, the longest first: `a.b.c`, `b.c`, `c`. */
function selfAndParents(name: string): readonly string[] {
  const labels = name.split('.');
  return labels.map((_, index) => labels.slice(index).join('.'));
}
