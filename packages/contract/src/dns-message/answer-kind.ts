import { isWithin, renamed, sameName } from './names.ts';

/** Every kind of answer, with the sentence that documents it. The list is closed. */
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
  loop: 'aliases that lead in a circle',
  error: 'another rcode',
  malformed: 'not a valid DNS message',
} as const;

export type AnswerKind = keyof typeof answerKinds;

export interface AnswerRecord {
  /** Fully qualified, presentation form; so is `data` where it is a name. */
  readonly name: string;
  readonly type: string;
  readonly data: string;
}

export interface AnswerToClassify {
  /** The name that was asked for, fully qualified, in presentation form. */
  readonly queryName: string;
  readonly recordType: string;
  /** True where the server was asked to resolve. */
  readonly recursionDesired: boolean;
  readonly rcode: string;
  readonly flags: readonly string[];
  readonly answers: readonly AnswerRecord[];
  readonly authority: readonly AnswerRecord[];
  /** The codes of the extended errors (RFC 8914) of the answer. */
  readonly extendedErrors?: readonly number[] | undefined;
  /** The zone that the server was asked for, where it is known: a referral then leads below it. */
  readonly zone?: string | undefined;
}

export interface ClassifiedAnswer {
  readonly kind: AnswerKind;
  /** The last name that the aliases lead to; null for a name that is no alias. */
  readonly canonicalName: string | null;
  /** The zone whose name servers the answer gives in place of records; null where it gives none. */
  readonly referral: string | null;
}

/**
 * What an answer says about the question. Only records of the name that was asked for and of the names that its aliases
 * lead to count (RFC 2181 section 5.4.1, RFC 5452 section 6). NODATA is told from a referral by RFC 2308 section 2.2: an
 * SOA record in the authority section, or no NS records there. An empty answer without SOA is NODATA if the server has
 * authority (AA) or was asked to resolve and does so (RD and RA); else it proves nothing. Neither does one whose SOA is of
 * a zone that the name is not in. NXDOMAIN is judged alike, and NS records make no referral of it (section 2.1).
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
  // RFC 2181 section 9: whatever such an answer holds may be a part of it.
  if (answer.flags.includes('tc')) return classified('truncated');
  if (isLoop) return classified('loop');
  if (answer.answers.some((record) => record.type === answer.recordType && sameName(record.name, name)))
    return classified('answer');
  if (!isAlias && answer.answers.length > 0) return classified('foreign');
  if (isNodata(answer, name, isAlias)) return classified('nodata');
  if (isAlias) return classified('alias');
  return classified(referral === null ? 'lame' : 'referral');
}

/** Forged Answer, Blocked, Censored, Filtered, Prohibited (RFC 8914 section 4). */
const filterErrors: ReadonlySet<number> = new Set([4, 15, 16, 17, 18]);

/** True for an extended error by which a resolver says that the answer is one of its own making. */
export function isFilterError(code: number): boolean {
  return filterErrors.has(code);
}

const emptyKinds: ReadonlySet<AnswerKind> = new Set(['nodata', 'nxdomain', 'alias', 'lame']);

/** True where a kind without records is told of an answer that a filter made. Who is refused was not filtered, but denied. */
export function isHeldBack(kind: AnswerKind, rcode: string, extendedErrors: readonly number[] = []): boolean {
  const isEmpty = emptyKinds.has(kind) || (kind === 'error' && rcode === 'SERVFAIL');
  return isEmpty && extendedErrors.some(isFilterError);
}

/** More aliases than these are followed by no resolver. */
const MAX_ALIASES = 32;

interface Followed {
  readonly name: string;
  readonly isAlias: boolean;
  readonly isLoop: boolean;
}

function followAliases({ queryName, recordType, answers }: AnswerToClassify): Followed {
  const seen = [queryName];
  for (let name = queryName; seen.length <= MAX_ALIASES;) {
    const target = answers.some((record) => record.type === recordType && sameName(record.name, name))
      ? undefined
      : aliasOf(name, answers);
    if (target === undefined) return { name, isAlias: seen.length > 1, isLoop: false };
    if (seen.some((earlier) => sameName(earlier, target))) return { name: target, isAlias: true, isLoop: true };
    seen.push(target);
    name = target;
  }
  return { name: seen.at(-1)!, isAlias: true, isLoop: true };
}

function aliasOf(name: string, answers: readonly AnswerRecord[]): string | undefined {
  const cname = answers.find(({ name: owner, type }) => type === 'CNAME' && sameName(owner, name));
  if (cname !== undefined) return cname.data;
  for (const { name: owner, type, data } of answers) {
    const target = type === 'DNAME' ? renamed(name, owner, data) : undefined;
    if (target !== undefined) return target;
  }
  return undefined;
}

function isNodata(answer: AnswerToClassify, name: string, isAlias: boolean): boolean {
  const { authority, flags } = answer;
  const hasSoa = authority.some(({ type }) => type === 'SOA');
  if (hasSoa) return isProved(answer, name);
  const nameServers = authority.filter((record) => record.type === 'NS');
  // With the zone known: its own servers in an answer with authority are no referral.
  const isOwnZone = ({ name: owner }: AnswerRecord): boolean =>
    answer.zone !== undefined && sameName(owner, answer.zone);
  if (nameServers.length > 0 && !(flags.includes('aa') && nameServers.every(isOwnZone))) return false;
  // Authority is about the name asked for (RFC 1035 section 4.1.1), and not every resolver follows an alias to its end.
  return !isAlias && isProved(answer, name);
}

/** True where a server that can know says that there is nothing: with the SOA of a zone of the name, or without any. */
function isProved({ authority, flags, recursionDesired }: AnswerToClassify, name: string): boolean {
  const zones = authority.filter(({ type }) => type === 'SOA').map((record) => record.name);
  if (zones.length > 0) return zones.some((zone) => isWithin(name, zone));
  return flags.includes('aa') || (recursionDesired && flags.includes('ra'));
}

/** The zone of the NS records in the authority section: on the way to the name, and below the zone asked where it is known. */
function referralOf({ authority, zone }: AnswerToClassify, name: string): string | null {
  const owner = authority.find(({ type }) => type === 'NS')?.name;
  if (owner === undefined || !isWithin(name, owner)) return null;
  if (zone !== undefined && (sameName(owner, zone) || !isWithin(owner, zone))) return null;
  return owner;
}
