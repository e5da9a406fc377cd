import { isWithin, lowerCase, renamed, sameName } from './names.ts';

/** All answer kinds with their documentation; a closed list. */
export const answerKinds = {
  answer: 'records of the type asked for, at the name or where its aliases lead',
  alias: 'aliases that lead to a name of which the answer says nothing',
  nodata: 'the name, or the one its aliases lead to, exists without records of the type (RFC 2308 section 2.2)',
  nxdomain: 'the name, or the one its aliases lead to (RFC 6604), does not exist',
  filtered:
    'no records, by a resolver that says that it holds them back (extended DNS errors 4 and 15 to 18, RFC 8914)',
  referral: 'the name servers of another zone, and no answer',
  lame: 'NOERROR with neither records nor anything that proves that there are none, or NXDOMAIN that nothing proves',
  truncated: 'cut off (TC), over TCP too or because TCP fails',
  foreign: 'records that were not asked for, and none that were',
  loop: 'aliases that lead in a circle, or more than 128 of them',
  error: 'another rcode',
  malformed: 'not a valid DNS message',
} as const;

export type AnswerKind = keyof typeof answerKinds;

export interface AnswerRecord {
  /** Fully qualified, in presentation form; so is `data` if it is a name. */
  readonly name: string;
  readonly type: string;
  readonly data: string;
}

export interface AnswerToClassify {
  /** The queried name, fully qualified, in presentation form. */
  readonly queryName: string;
  readonly recordType: string;
  /** True if the query had RD set. */
  readonly recursionDesired: boolean;
  readonly rcode: string;
  readonly flags: readonly string[];
  readonly answers: readonly AnswerRecord[];
  readonly authority: readonly AnswerRecord[];
  /** Codes of the extended errors (RFC 8914) of the answer. */
  readonly extendedErrors?: readonly number[] | undefined;
  /** The zone of the queried server, if known: a referral then points below it. */
  readonly zone?: string | undefined;
}

export interface ClassifiedAnswer {
  readonly kind: AnswerKind;
  /** Last name of the alias chain; null if the name is no alias. */
  readonly canonicalName: string | null;
  /** Zone to which the answer refers, also for the name that its aliases lead to; null if to none. */
  readonly referral: string | null;
}

/**
 * Classifies an answer. Only records of the queried name and of its alias chain count (RFC 2181 section 5.4.1, RFC 5452
 * section 6). RFC 2308 section 2.2 separates NODATA from a referral: an SOA in the authority section, or no NS records
 * there. An empty answer is NODATA if it has an SOA of an enclosing zone; without any SOA only if the server is
 * authoritative (AA) or resolves recursively (RD and RA). The same holds for NXDOMAIN, which NS records do not turn
 * into a referral (section 2.1).
 */
export function classifyAnswer(answer: AnswerToClassify): ClassifiedAnswer {
  const { name, isAlias, isLoop } = followAliases(answer);
  const referral = referralOf(answer, name);
  const classified = (read: AnswerKind): ClassifiedAnswer => {
    const kind = isHeldBack(read, answer.rcode, answer.extendedErrors) ? 'filtered' : read;
    const refers = kind === 'referral' || kind === 'alias';
    return { kind, canonicalName: isAlias ? name : null, referral: refers ? referral : null };
  };
  if (answer.rcode === 'NXDOMAIN') return classified(isProved(answer, name) ? 'nxdomain' : 'lame');
  if (answer.rcode !== 'NOERROR') return classified('error');
  // RFC 2181 section 9: a truncated answer may hold any part of the records.
  if (answer.flags.includes('tc')) return classified('truncated');
  if (isLoop) return classified('loop');
  if (answer.answers.some((record) => record.type === answer.recordType && sameName(record.name, name)))
    return classified('answer');
  if (!isAlias && answer.answers.length > 0) return classified('foreign');
  if (isNodata(answer, name, isAlias)) return classified('nodata');
  if (isAlias) return classified('alias');
  return classified(referral === null ? 'lame' : 'referral');
}

/** Extended errors of a filter: Forged Answer, Blocked, Censored, Filtered, Prohibited (RFC 8914 section 4). */
const filterErrors: ReadonlySet<number> = new Set([4, 15, 16, 17, 18]);

/** True for an extended error that marks an answer as made by a filter. */
export function isFilterError(code: number): boolean {
  return filterErrors.has(code);
}

const emptyKinds: ReadonlySet<AnswerKind> = new Set(['nodata', 'nxdomain', 'alias', 'lame']);

/**
 * True if an answer of one of the `emptyKinds`, or a SERVFAIL, has an extended error of a filter. REFUSED is a denial,
 * not a filtered answer.
 */
export function isHeldBack(kind: AnswerKind, rcode: string, extendedErrors: readonly number[] = []): boolean {
  const isEmpty = emptyKinds.has(kind) || (kind === 'error' && rcode === 'SERVFAIL');
  return isEmpty && extendedErrors.some(isFilterError);
}

/** A longer chain of aliases counts as a loop: a DNAME may make longer names without end. */
const MAX_ALIASES = 128;

interface Followed {
  readonly name: string;
  readonly isAlias: boolean;
  readonly isLoop: boolean;
}

function followAliases({ queryName, recordType, answers }: AnswerToClassify): Followed {
  const ends = new Set(answers.filter(({ type }) => type === recordType).map(({ name }) => lowerCase(name)));
  const aliasOf = readAliases(answers);
  const seen = new Set<string>();
  for (let name = queryName; ;) {
    seen.add(lowerCase(name));
    const target = ends.has(lowerCase(name)) ? undefined : aliasOf(name);
    if (target === undefined) return { name, isAlias: seen.size > 1, isLoop: false };
    if (seen.has(lowerCase(target)) || seen.size > MAX_ALIASES) return { name: target, isAlias: true, isLoop: true };
    name = target;
  }
}

/** @returns a function that finds where an alias leads: by its CNAME, or by the first DNAME above it */
function readAliases(answers: readonly AnswerRecord[]): (name: string) => string | undefined {
  const cnames = new Map<string, string>();
  for (const { name, type, data } of answers) {
    if (type === 'CNAME' && !cnames.has(lowerCase(name))) cnames.set(lowerCase(name), data);
  }
  const dnames = answers.filter(({ type }) => type === 'DNAME');
  return (name) => {
    const cname = cnames.get(lowerCase(name));
    if (cname !== undefined) return cname;
    for (const { name: owner, data } of dnames) {
      const target = renamed(name, owner, data);
      if (target !== undefined) return target;
    }
    return undefined;
  };
}

function isNodata(answer: AnswerToClassify, name: string, isAlias: boolean): boolean {
  const { authority, flags } = answer;
  const hasSoa = authority.some(({ type }) => type === 'SOA');
  if (hasSoa) return isProved(answer, name);
  const nameServers = authority.filter((record) => record.type === 'NS');
  // NS records of the queried zone itself in an authoritative answer are no referral.
  const isOwnZone = ({ name: owner }: AnswerRecord): boolean =>
    answer.zone !== undefined && sameName(owner, answer.zone);
  if (nameServers.length > 0 && !(flags.includes('aa') && nameServers.every(isOwnZone))) return false;
  // Without an SOA, nothing proves that the target of an alias has no records: AA is about the queried name only (RFC
  // 1035 section 4.1.1), and some resolvers do not follow an alias to its end.
  return !isAlias && isProved(answer, name);
}

/**
 * True if absence is proved: by an SOA of an enclosing zone, or, without any SOA, by an authoritative server (AA) or by
 * a recursive one (RA) that was asked to recurse (RD).
 */
function isProved({ authority, flags, recursionDesired }: AnswerToClassify, name: string): boolean {
  const zones = authority.filter(({ type }) => type === 'SOA').map((record) => record.name);
  if (zones.length > 0) return zones.some((zone) => isWithin(name, zone));
  return flags.includes('aa') || (recursionDesired && flags.includes('ra'));
}

/**
 * Zone of the NS records in the authority section, if it encloses the name and is below the queried zone (when known).
 */
function referralOf({ authority, zone }: AnswerToClassify, name: string): string | null {
  const owner = authority.find(({ type }) => type === 'NS')?.name;
  if (owner === undefined || !isWithin(name, owner)) return null;
  if (zone !== undefined && (sameName(owner, zone) || !isWithin(owner, zone))) return null;
  return owner;
}
