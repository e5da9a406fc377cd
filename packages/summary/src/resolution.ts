import type { FailureCode } from '@vantage/contract';

import { answerKindOf } from './dns-answer.ts';
import { isOfSignatures, isStale } from './extended-errors.ts';
import type { ProbeResult, SparseResultOf } from './probe-result.ts';

/** True if the name was not resolved, and neither the name nor the probe is the known cause. Not for dns checks. */
export function isUnresolved({ result: { error } }: ProbeResult): boolean {
  if (error?.phase !== 'resolve' || ofName.has(error.code)) return false;
  return error.source !== 'target' && error.source !== 'probe';
}

/** True if only addresses of one family were queried, and the name has none; it may have some of the other family. */
export function isWithoutFamily({ result: { error } }: ProbeResult): boolean {
  return error?.phase === 'resolve' && error.code === 'dns_no_address' && error.family !== undefined;
}

/** Failures that are answers about the name, even if agents of earlier releases give the resolver as their `source`. */
const ofName: ReadonlySet<FailureCode> = new Set(['dns_nxdomain', 'dns_no_address']);

/** Failures of a resolver that may be about the name, because of its name servers or signatures. */
const mayBeOfName: ReadonlySet<FailureCode | undefined> = new Set(['dns_servfail', 'dns_servers_silent']);

/**
 * Probes whose resolvers failed, which is no evidence about the target. SERVFAIL, or silence about the name alone, may
 * be about the name: it is evidence if no probe got an answer about the name, or if at least two probes, and at least
 * as many as got an answer, failed in this way.
 */
export function withFailedResolver(probeResults: readonly ProbeResult[]): ReadonlySet<ProbeResult> {
  const unresolved = probeResults.filter(isUnresolved);
  const failing = unresolved.filter(({ result }) => mayBeOfName.has(result.error?.code));
  const resolved = probeResults.filter(isResolved);
  const isAboutName = isMajority(failing.length, resolved.length);
  return new Set(isAboutName ? unresolved.filter((probeResult) => !failing.includes(probeResult)) : unresolved);
}

/**
 * Results of dns checks whose resolver answers SERVFAIL, or is silent about the name alone; none if they are evidence
 * about the name (`isMajority`). Leaves out traces and failures of signatures, which are about the name, and resolvers
 * that fail for every name, which `isUnanswered` covers. An expired answer comes from a resolver that fails, too: it
 * does not show that others know the name.
 */
export function withFailingResolver(
  probeResults: readonly ProbeResult<SparseResultOf<'dns'>>[],
): ReadonlySet<ProbeResult> {
  const isFailing = (result: SparseResultOf<'dns'>): boolean => {
    const { rcode, trace, dnssec, error } = result;
    if (trace !== undefined || dnssec?.verdict === 'validation_failed' || isOfSignatures(result)) return false;
    if (error?.code === 'dns_resolver_failing') return false;
    return error?.code === 'dns_servers_silent' || rcode === 'SERVFAIL';
  };
  const isAnswerless = (result: SparseResultOf<'dns'>): boolean => ['error', undefined].includes(answerKindOf(result));
  const failing = probeResults.filter(({ result }) => isFailing(result) && isAnswerless(result));
  const answered = probeResults.filter(({ result }) => knownKinds.has(answerKindOf(result)));
  const expired = answered.filter(({ result }) => isStale(result)).length;
  return new Set(isMajority(failing.length + expired, answered.length - expired) ? [] : failing);
}

const knownKinds: ReadonlySet<string | undefined> = new Set(['answer', 'alias', 'nodata', 'nxdomain']);

/**
 * True if failures of resolvers are evidence about the name: no probe has an answer, or at least two failed and no
 * fewer than have one.
 */
function isMajority(failing: number, known: number): boolean {
  return known === 0 || (failing >= 2 && failing >= known);
}

/** True if the probe got an answer about the name: an address, or that there is none. */
function isResolved({ result: { resolvedIp, error } }: ProbeResult): boolean {
  return (error?.phase === 'resolve' && ofName.has(error.code)) || (resolvedIp !== null && resolvedIp !== undefined);
}
