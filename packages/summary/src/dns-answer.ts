import {
  classifyAnswer,
  isFilterError,
  isHeldBack,
  sameName,
  type AnswerKind,
  type ClassifiedAnswer,
} from '@vantage/diagnostics/contract';

import { areForged, extendedErrorsOf, extendedErrorText } from './extended-errors.ts';
import type { SparseResultOf } from './probe-result.ts';
import { unique } from './words.ts';

type Dns = SparseResultOf<'dns'>;

/**
 * Answer kind of a result, with its canonical name and referral. Classifies the response if the agent did not report
 * the kind; undefined without a response. Records that a filter made count as `filtered`, too.
 */
export function classifiedAnswer(result: Dns): ClassifiedAnswer | undefined {
  const { answerKind: kind, canonicalName = null, referral = null } = result;
  const extendedErrors = extendedErrorsOf(result).map(({ code }) => code);
  // Agents of earlier releases do not detect filters.
  if (kind !== undefined) {
    const isFiltered = isHeldBack(kind, result.rcode ?? '', extendedErrors) || areForged(kind, result);
    return { kind: isFiltered ? 'filtered' : kind, canonicalName, referral };
  }
  const { rcode, queryName = '', recordType = '', flags = [], answers = [], authority = [] } = result;
  if (rcode === undefined) return undefined;
  const recursionDesired = flags.includes('rd');
  const asked = { queryName, recordType, recursionDesired };
  const classified = classifyAnswer({ ...asked, rcode, flags, answers, authority, extendedErrors });
  return areForged(classified.kind, result) ? { ...classified, kind: 'filtered' } : classified;
}

/** Description of a resolver's filter, such as `EDE 17 Filtered`; undefined without one. */
export function filterOf(result: Dns): string | undefined {
  return answerKindOf(result) === 'filtered' ? extendedErrorText(result, isFilterError) : undefined;
}

/** True for records of a filter: an answer that says nothing about the name. */
export function isMade(result: Dns): boolean {
  return answerKindOf(result) === 'filtered' && (result.answers ?? []).length > 0;
}

export function answerKindOf(result: Dns): AnswerKind | undefined {
  return classifiedAnswer(result)?.kind;
}

/** Answer kinds that prove nothing about the name. */
const inconclusiveKinds: ReadonlySet<AnswerKind> = new Set(['filtered', 'referral', 'lame', 'truncated']);

/**
 * Answer kinds of a resolver that prove nothing about the name. From the servers of a zone, `foreign` and `malformed`
 * are a fault of the zone.
 */
const inconclusiveFromResolver: ReadonlySet<AnswerKind> = new Set([...inconclusiveKinds, 'foreign', 'malformed']);

/**
 * Rcodes that may be about the name; SERVFAIL reports a fault of its zone or of the resolver. All other rcodes are
 * taken to be about the query or the client.
 */
const conclusiveRcodes: ReadonlySet<string> = new Set(['NOERROR', 'SERVFAIL', 'NXDOMAIN', 'YXDOMAIN']);

/**
 * True if the result alone proves nothing about the name. Most failures of a resolver prove nothing; exceptions are
 * SERVFAIL, unless the resolver fails for every name (`dns_resolver_failing`), and silence about this name alone
 * (`dns_servers_silent`). In a trace, failures of the servers of a zone are evidence, if their addresses were found and
 * all were asked.
 */
export function isUnanswered(result: Dns): boolean {
  const { error, trace, rcode } = result;
  const kind = answerKindOf(result);
  const isFailed = error !== null && error !== undefined;
  if (isRootSilent(result) || partAsked(result) !== undefined) return true;
  if (error?.code === 'dns_resolver_failing') return true;
  if (error?.code === 'dns_servers_silent') return false;
  if (kind === undefined) return isFailed && (trace === undefined || error.phase === 'resolve');
  if (isDelegated(result)) return false;
  if (trace === undefined)
    return inconclusiveFromResolver.has(kind) || (kind === 'error' && !conclusiveRcodes.has(rcode ?? ''));
  if (!inconclusiveKinds.has(kind)) return false;
  return kind === 'filtered' || !isFailed || error.code === 'dns_no_answer';
}

/**
 * True for a trace that failed at the root servers, except by NXDOMAIN. Root servers answer all clients, so the network
 * of the probe may block queries, or a device on it may answer in their place.
 */
export function isRootSilent(result: Dns): boolean {
  const { error, trace = [] } = result;
  if (error === null || error === undefined || trace.length === 0) return false;
  return trace.every(({ zone, referral }) => zone === '.' && referral === null) && answerKindOf(result) !== 'nxdomain';
}

/** Kinds of answers that end a trace, even if the zone has other servers. */
const lastKinds: ReadonlySet<AnswerKind | undefined> = new Set(['answer', 'alias', 'nodata', 'nxdomain', 'loop']);

/**
 * Number of servers of the last zone that a failed trace queried (0 if it ended before), and number of all servers in
 * the delegation. Undefined if it queried all, if that is not known, and for an answer that ends a trace (`lastKinds`).
 */
export function partAsked(result: Dns): { readonly asked: number; readonly all: number } | undefined {
  const { error, trace = [] } = result;
  const last = trace.at(-1);
  if (error === null || error === undefined || last === undefined || lastKinds.has(answerKindOf(result)))
    return undefined;
  // After too many delegations the last row is a referral, too.
  if (last.referral !== null && error.code !== 'timed_out') return undefined;
  const zone = last.referral ?? last.zone;
  const records = trace.findLast(({ referral }) => referral === zone)?.records ?? [];
  const asked = trace.filter((row) => row.zone === zone).length;
  const all = records.filter(({ type, name }) => type === 'NS' && sameName(name, zone)).length;
  return asked < all ? { asked, all } : undefined;
}

/** True if a query for NS was answered by a referral to the queried name: its parent zone listed its name servers. */
export function isDelegated(result: Dns): boolean {
  const answer = classifiedAnswer(result);
  const { recordType, queryName } = result;
  if (answer?.kind !== 'referral' || recordType !== 'NS' || queryName === undefined) return false;
  return answer.referral !== null && sameName(answer.referral, queryName);
}

/** Types whose data contains names, compared without case (RFC 4343). */
const nameTypes: ReadonlySet<string> = new Set(['CNAME', 'DNAME', 'MX', 'NS', 'PTR', 'SOA', 'SRV']);

/**
 * Distinct data of the records of the queried type at the end of the aliases, without TTLs, sorted. If there are none,
 * data of all records, with the type if it is another one. Signatures count only if they were queried.
 */
export function dataOf(result: Dns): readonly string[] {
  const { answers = [], recordType, queryName } = result;
  const owner = classifiedAnswer(result)?.canonicalName ?? queryName;
  const records = answers.filter(({ type }) => type !== 'RRSIG' || recordType === 'RRSIG');
  const asked = records.filter(
    ({ name, type }) => type === recordType && (owner === undefined || sameName(name, owner)),
  );
  const lines = (asked.length > 0 ? asked : records).map(({ type, data }) => {
    const text = nameTypes.has(type) ? data.toLowerCase() : data;
    return type === recordType ? text : `${type} ${text}`;
  });
  return unique(lines);
}
