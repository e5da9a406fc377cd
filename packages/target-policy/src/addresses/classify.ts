import { ADDRESS_BITS, formatAddress, parseAddress, type Address } from './address.ts';
import { embeddedIpv4 } from './embedded.ts';
import { createPrefixTable, formatPrefix, parsePrefix, type Prefix } from './prefix.ts';
import { specialData } from './special-data.ts';

/** The row that decides about an address. `cidr` of a pattern is its mask and value. */
export interface AddressRule {
  readonly cidr: string;
  readonly name: string;
  readonly rfc: string;
  readonly reason: string;
}

export interface AddressVerdict {
  readonly refused: boolean;
  readonly rule: AddressRule;
}

interface Pattern {
  readonly mask: bigint;
  readonly value: bigint;
  readonly verdict: AddressVerdict;
}

const rangeTable = createPrefixTable(
  specialData.ranges.map(({ cidr, name, rfc, refuse, reason }) => [
    requiredPrefix(cidr),
    { refused: refuse, rule: { cidr, name, rfc, reason } },
  ]),
);

const patterns: readonly Pattern[] = specialData.patterns.map(({ name, rfc, mask, value, reason }) => ({
  mask: requiredPrefix(mask).first,
  value: requiredPrefix(value).first,
  verdict: { refused: true, rule: { cidr: `${value} under mask ${mask}`, name, rfc, reason } },
}));

const linkLocalAndMetadata = createPrefixTable(
  ['169.254.0.0/16', 'fe80::/10', ...specialData.metadataAddresses.map(({ cidr }) => cidr)].map((cidr) => [
    requiredPrefix(cidr),
    cidr,
  ]),
);

const unreadable: AddressVerdict = {
  refused: true,
  rule: { cidr: '-', name: 'Not an address', rfc: '-', reason: 'not the canonical text of an address' },
};

const uncovered: AddressVerdict = {
  refused: true,
  rule: { cidr: '-', name: 'Not in the table', rfc: '-', reason: 'no row covers it' },
};

/**
 * Decides by the table of special-purpose prefixes whether an address is refused, and by which row. A malformed address
 * is refused. Lists of operators and agents are not considered.
 */
export function classifyAddress(address: string | Address): AddressVerdict {
  const parsed = typeof address === 'string' ? parseAddress(address) : address;
  if (parsed === undefined) return unreadable;
  const verdict = rangeTable.find(parsed) ?? uncovered;
  if (verdict.refused || parsed.family === 4) return verdict;
  return patterns.find(({ mask, value }) => (parsed.value & mask) === value)?.verdict ?? verdict;
}

/** Decides for a whole prefix, by the longest row that contains it; patterns count for single addresses only. */
export function classifyPrefix(prefix: Prefix): AddressVerdict {
  const wholeAddress = prefix.length === ADDRESS_BITS[prefix.family];
  if (wholeAddress) return classifyAddress({ family: prefix.family, value: prefix.first });
  return rangeTable.findCovering(prefix) ?? uncovered;
}

/** True for an address that the table refuses, and for a text that is no address. */
export function isPrivateAddress(address: string): boolean {
  return classifyAddress(address).refused;
}

/** True for link-local and metadata addresses, including those embedded in an IPv6 address. */
export function isLinkLocalOrMetadata(address: Address): boolean {
  return [address, ...embeddedIpv4(address)].some((each) => linkLocalAndMetadata.find(each) !== undefined);
}

/** True if the prefix has link-local or metadata addresses only. */
export function isAllLinkLocalOrMetadata(prefix: Prefix): boolean {
  return linkLocalAndMetadata.findCovering(prefix) !== undefined;
}

/** Describes a refusal: the subject, the row, its reason, and embedded IPv4 addresses. */
export function describeVerdict(subject: Prefix, { rule }: AddressVerdict): string {
  const whole = subject.length === ADDRESS_BITS[subject.family];
  const address = { family: subject.family, value: subject.first };
  const carried = whole ? embeddedIpv4(address).map(formatAddress) : [];
  const rfc = rule.rfc === '-' ? '' : `, ${rule.rfc}`;
  const detail = carried.length === 0 ? '' : `; it carries ${carried.join(' and ')}`;
  const what = whole ? formatAddress(address) : formatPrefix(subject);
  return `${what} is in ${rule.cidr} (${rule.name}${rfc}): ${rule.reason}${detail}.`;
}

/** Parses a prefix of the table, and throws if it is invalid: the table is part of the release. */
function requiredPrefix(cidr: string): Prefix {
  const prefix = parsePrefix(cidr);
  if (prefix === undefined) throw new Error(`not a prefix: ${cidr}`);
  return prefix;
}
