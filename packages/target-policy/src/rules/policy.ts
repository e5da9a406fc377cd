import { ADDRESS_BITS, type Address } from '../addresses/address.ts';
import { canonicalizeHost } from '../hosts/canonical-host.ts';
import { classifyPrefix, describeVerdict, isLinkLocalOrMetadata } from '../addresses/classify.ts';
import { createPrefixTable, formatPrefix, parsePrefix, type Prefix, type PrefixTable } from '../addresses/prefix.ts';
import { refusal, type Refusal } from './refusal.ts';

/** The operator's additions to the built-in rules; never set by clients. */
export interface TargetPolicyOptions {
  /**
   * Exact CIDRs or addresses that may be measured although the table refuses them. The rules for names still apply.
   */
  readonly allow?: readonly string[];
  /** Lets `allow` open link-local and metadata addresses too: access to those may give control of the machine. */
  readonly dangerouslyAllowLinkLocalAndMetadata?: boolean;
  /** Domains that are admitted although special-use, unknown or without a dot, each with all names below it. */
  readonly allowNames?: readonly string[];
  /** CIDRs, addresses and domains (with all names below) that are never measured. Overrides every allowance. */
  readonly deny?: readonly string[];
}

/** The options, compiled. */
export interface TargetPolicy {
  readonly allow: PrefixTable<string>;
  readonly allowLinkLocalAndMetadata: boolean;
  readonly allowNames: ReadonlySet<string>;
  /** Names of `allowNames` without a dot. */
  readonly dotless: readonly string[];
  readonly deny: PrefixTable<string>;
  readonly denyNames: ReadonlySet<string>;
}

/** Status of an address: refused, admitted by the operator's exception, or admitted as a public one. */
export type Standing = Refusal | 'allowed' | 'public';

/** Faults of the options, one sentence each; empty if `createTargetPolicy` accepts them. */
export function targetPolicyFaults(options: TargetPolicyOptions): readonly string[] {
  const entries = readEntries(options);
  return [
    ...faultsOf(entries.allow, (text) => `allow: ${text} is not an exact CIDR or address.`),
    ...faultsOf(entries.allowNames, (text) => `allowNames: ${text} is not a domain.`),
    ...faultsOf(entries.deny, (text) => `deny: ${text} is neither an exact CIDR, an address nor a domain.`),
  ];
}

/**
 * Compiles the options.
 *
 * @throws TypeError that lists every entry that cannot be read: no exception may be wider than it was meant
 */
export function createTargetPolicy(options: TargetPolicyOptions = {}): TargetPolicy {
  const faults = targetPolicyFaults(options);
  if (faults.length > 0) throw new TypeError(faults.join(' '));
  const entries = readEntries(options);
  const allowNames = namesOf(entries.allowNames);
  return {
    allow: tableOf(entries.allow),
    allowLinkLocalAndMetadata: options.dangerouslyAllowLinkLocalAndMetadata ?? false,
    allowNames,
    dotless: [...allowNames].filter((name) => !name.includes('.')),
    deny: tableOf(entries.deny),
    denyNames: namesOf(entries.deny),
  };
}

/** Evaluates an address by the operator's lists and the table: deny, then allow, then the table. */
export function evaluateAddress(address: Address, policy: TargetPolicy): Standing {
  return evaluatePrefix({ family: address.family, first: address.value, length: ADDRESS_BITS[address.family] }, policy);
}

/** Evaluates a whole prefix, such as one that a reversed name denotes. */
export function evaluatePrefix(prefix: Prefix, policy: TargetPolicy): Standing {
  if (lookUp(policy.deny, prefix) !== undefined) {
    return refusal('address_denied', `The operator of this service does not let ${prefixText(prefix)} be measured.`);
  }
  if (lookUp(policy.allow, prefix) !== undefined && mayBeAllowed(prefix, policy)) return 'allowed';
  const verdict = classifyPrefix(prefix);
  return verdict.refused ? refusal('address_special', describeVerdict(prefix, verdict)) : 'public';
}

function mayBeAllowed(prefix: Prefix, policy: TargetPolicy): boolean {
  return policy.allowLinkLocalAndMetadata || !isLinkLocalOrMetadata({ family: prefix.family, value: prefix.first });
}

function lookUp(table: PrefixTable<string>, prefix: Prefix): string | undefined {
  return prefix.length === ADDRESS_BITS[prefix.family]
    ? table.find({ family: prefix.family, value: prefix.first })
    : table.findCovering(prefix);
}

function prefixText(prefix: Prefix): string {
  return formatPrefix(prefix).replace(prefix.family === 4 ? /\/32$/ : /\/128$/, '');
}

type Entry = { readonly prefix: Prefix } | { readonly name: string } | { readonly fault: string };

interface Entries {
  readonly allow: readonly Entry[];
  readonly allowNames: readonly Entry[];
  readonly deny: readonly Entry[];
}

function readEntries({ allow = [], allowNames = [], deny = [] }: TargetPolicyOptions): Entries {
  return {
    allow: allow.map((text) => readPrefix(text) ?? { fault: text }),
    allowNames: allowNames.map((text) => readDomain(text) ?? { fault: text }),
    deny: deny.map((text) => readPrefix(text) ?? readDomain(text) ?? { fault: text }),
  };
}

function readPrefix(text: string): Entry | undefined {
  const prefix = parsePrefix(text);
  return prefix && { prefix };
}

function readDomain(text: string): Entry | undefined {
  const host = canonicalizeHost(text, 'name');
  return host.ok && host.canonical.kind === 'name' && host.canonical.text !== '.'
    ? { name: host.canonical.text }
    : undefined;
}

function faultsOf(entries: readonly Entry[], sentence: (text: string) => string): readonly string[] {
  return entries.flatMap((entry) => ('fault' in entry ? [sentence(JSON.stringify(entry.fault))] : []));
}

function namesOf(entries: readonly Entry[]): ReadonlySet<string> {
  return new Set(entries.flatMap((entry) => ('name' in entry ? [entry.name] : [])));
}

function tableOf(entries: readonly Entry[]): PrefixTable<string> {
  return createPrefixTable(
    entries.flatMap((entry) => ('prefix' in entry ? [[entry.prefix, formatPrefix(entry.prefix)] as const] : [])),
  );
}
