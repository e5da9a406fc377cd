import { setTimeout as delay } from 'node:timers/promises';

import { isDnssecError, uncachedTopLevelDomain } from '@vantage/contract/dns-message';

import { queryServer, type ResolverOutcome, type QueryOptions } from './query-server.ts';
import { prepareQuery, type Answer, type NameServer, type PreparedQuery } from './transport/query.ts';

const NOERROR = 0;
const SERVFAIL = 2;
const NXDOMAIN = 3;

/**
 * Extended errors that name another cause of SERVFAIL: Forged Answer, Not Ready, Blocked, Censored, Filtered,
 * Prohibited, No Reachable Authority, Network Error.
 */
const otherErrors: ReadonlySet<number> = new Set([4, 14, 15, 16, 17, 18, 22, 23]);

/**
 * Result of verifying a resolver's validation. `broken`: it fails for the root as well, and so says nothing about the
 * name.
 */
export type Validation = 'failed' | 'confirmed' | 'unconfirmed' | 'broken';

/**
 * Verifies by additional queries whether an answer fails DNSSEC validation, or was validated by its resolver.
 *
 * @param timeoutMs for the additional queries about the name, and again for those about the root
 */
export async function checkValidation(
  asked: ResolverOutcome,
  prepared: PreparedQuery,
  options: QueryOptions,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Validation> {
  if (await failsValidation(asked, prepared, options, timeoutMs, signal)) {
    return (await failsForRoot(asked.answer!.server, prepared, options, timeoutMs, signal)) ? 'broken' : 'failed';
  }
  return (await confirmsValidation(asked, prepared, options, timeoutMs, signal)) ? 'confirmed' : 'unconfirmed';
}

/** Milliseconds; longer than BIND keeps a failure in its cache by default (1 s). */
const CACHED_FAILURE_MS = 1_200;

/**
 * True if a resolver answers SERVFAIL with validation, an answer without (CD), and SERVFAIL with validation again: the
 * data exists, and validation fails (RFC 4035 section 3.2.2). An extended error with another cause is believed, because
 * under CD a resolver may answer from its cache.
 *
 * A resolver caches SERVFAIL (RFC 9520), so repeating the query does not exclude a failure of name servers that has
 * passed. Without an extended error of DNSSEC, signed data is asked for again after the usual time of such a cache, and
 * so is unsigned data of a signed zone. Other unsigned data fails only with its whole zone, so a made-up name below it
 * is asked for, which no cache has.
 */
async function failsValidation(
  { answer }: ResolverOutcome,
  prepared: PreparedQuery,
  options: QueryOptions,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { query } = prepared;
  if (answer === null || answer.message.rcode !== SERVFAIL || query.checkingDisabled) return false;
  if (namesAnotherCause(answer)) return false;
  const { server } = answer;
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const unchecked = prepareQuery({ ...query, checkingDisabled: true, edns: { dnssecOk: true, nsid: false } });
  const { answer: without } = await queryServer(server, unchecked, options, bounded);
  const rcode = without?.message.rcode;
  if (without === null || (rcode !== NOERROR && rcode !== NXDOMAIN)) return false;
  if (!namesDnssec(answer)) {
    const isSigned = [...without.message.answers, ...without.message.authority].some(({ type }) => type === 'RRSIG');
    if (!isSigned) {
      const below = questionBelow(without, prepared);
      if (below === undefined) return false;
      if (await failsFor(below, [NOERROR, NXDOMAIN], server, options, bounded)) return true;
      // In a zone that is signed, data without signatures fails.
      if (!(await isSecure(below, server, options, timeoutMs, bounded))) return false;
    }
    await delay(CACHED_FAILURE_MS, undefined, { signal: bounded }).catch(() => undefined);
  }
  const { answer: again } = await queryServer(server, prepared, options, bounded);
  return again?.message.rcode === SERVFAIL && !namesAnotherCause(again);
}

/** Bound of a name in presentation format without escapes (RFC 1035 section 2.3.4). */
const MAX_NAME_LENGTH = 254;

/** The same question about a made-up name below the name, or below that to which its aliases lead. */
function questionBelow({ message }: Answer, { query }: PreparedQuery): PreparedQuery | undefined {
  const name = message.answers.findLast(({ type }) => type === 'CNAME')?.data ?? query.name;
  const below = `${uncachedTopLevelDomain()}${name === '.' ? '' : name}`;
  return below.length > MAX_NAME_LENGTH ? undefined : prepareQuery({ ...query, name: below });
}

/** True if the resolver validates the answer about a made-up name, so that the zone of the name is signed. */
async function isSecure(
  below: PreparedQuery,
  server: NameServer,
  options: QueryOptions,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const asked = await queryServer(server, below, options, signal);
  return confirmsValidation(asked, below, options, timeoutMs, signal);
}

/** True if the answer about a name that no cache has is SERVFAIL with validation, and one of `rcodes` without. */
async function failsFor(
  { query }: PreparedQuery,
  rcodes: readonly number[],
  server: NameServer,
  options: QueryOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const [checked, unchecked] = await Promise.all(
    [false, true].map((checkingDisabled) =>
      queryServer(server, prepareQuery({ ...query, checkingDisabled }), options, signal),
    ),
  );
  const fails = checked!.answer?.message.rcode === SERVFAIL && !namesAnotherCause(checked!.answer);
  return fails && unchecked!.answer !== null && rcodes.includes(unchecked!.answer.message.rcode);
}

/**
 * True if the resolver fails validation for the root too, on whose signatures all validation depends: its clock may be
 * wrong by weeks, or its trust anchor outdated. The query is about a made-up top-level domain.
 */
function failsForRoot(
  server: NameServer,
  { query }: PreparedQuery,
  options: QueryOptions,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const prepared = prepareQuery({ ...query, name: uncachedTopLevelDomain() });
  return failsFor(prepared, [NXDOMAIN], server, options, bounded);
}

function codesOf({ message }: Answer): readonly number[] {
  return (message.edns?.extendedErrors ?? []).map(({ code }) => code);
}

function namesDnssec(answer: Answer): boolean {
  return codesOf(answer).some(isDnssecError);
}

function namesAnotherCause(answer: Answer): boolean {
  return codesOf(answer).some((code) => otherErrors.has(code)) && !namesDnssec(answer);
}

/**
 * True if the resolver itself sets the AD bit. A forwarder without DNSSEC may copy the bit from the query, and others
 * always set it. So the query is repeated twice without the bit: a validating resolver sets AD if DNSSEC records are
 * requested (DO), and clears it otherwise (RFC 6840 sections 5.7 and 5.8).
 */
async function confirmsValidation(
  { answer }: ResolverOutcome,
  { query }: PreparedQuery,
  options: QueryOptions,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  if (answer === null || !answer.message.flags.includes('ad') || !canValidate(answer, query)) return false;
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const askFor = async (dnssecOk: boolean): Promise<boolean | undefined> => {
    const prepared = prepareQuery({ ...query, authenticData: false, edns: { dnssecOk, nsid: false } });
    const again = await queryServer(answer.server, prepared, options, bounded);
    if (again.answer?.message.rcode !== answer.message.rcode) return undefined;
    return again.answer.message.flags.includes('ad');
  };
  const [withDo, withNothing] = await Promise.all([askFor(true), askFor(false)]);
  return withDo === true && withNothing === false;
}

/** Only a recursive resolver (RA) that was asked to resolve, without CD, has a verdict. */
export function canValidate({ message }: Answer, query: PreparedQuery['query']): boolean {
  return !query.checkingDisabled && query.recursionDesired && message.flags.includes('ra');
}
