import { isDecidedByClock } from './clock.ts';
import { isUnmeasured } from './compare/fields/common.ts';
import { answerKindOf } from './dns-answer.ts';
import { isTooLarge } from './partition.ts';
import { isUnfit } from './unanswered-pings.ts';
import type { ProbeResult, SparseResultOf } from './probe-result.ts';
import { withFailedResolver } from './resolution.ts';

/**
 * Failure codes for a family that is absent: the name has no address of it, or the probe, or the server that it asks,
 * does not support it.
 */
export const ABSENT_FAMILY: ReadonlySet<string | undefined> = new Set(['dns_no_address', 'family_unavailable']);

/** True if the measurement over one family is evidence about the target. */
export function isTold(probeResult: ProbeResult): boolean {
  const { result } = probeResult;
  return !isUnmeasured(probeResult) && !isAbsent(probeResult) && !isKeptAway(result) && !isDecidedByClock(probeResult);
}

/** True if the requested size or TTL kept the packets of a ping or a trace from the target over this family. */
function isKeptAway(result: SparseResultOf<'ping'>): boolean {
  return result.pingCount === undefined ? isTooLarge(result) : isUnfit(result);
}

export function isAbsent({ result }: ProbeResult): boolean {
  return ABSENT_FAMILY.has(result.error?.code);
}

/** True for a failure that is nevertheless an answer: an HTTP status below 500, or NXDOMAIN. */
function isAnswer({ result }: ProbeResult): boolean {
  const { error, statusCode = 500 } = result as SparseResultOf<'http'>;
  return (error?.code === 'http_status' && statusCode < 500) || answerKindOf(result) === 'nxdomain';
}

/** True if, by the measurement, the target works over the family. */
export function works(measured: ProbeResult): boolean {
  return measured.outcome === 'success' || isAnswer(measured);
}

/** True if a response arrived over the family, which proves that the probe has connectivity in it. */
export function isHeard({ result }: ProbeResult): boolean {
  const { timings, error, rcode } = result as SparseResultOf<'http'> & Pick<SparseResultOf<'dns'>, 'rcode'>;
  return (
    (error?.source === 'target' && error.code !== 'timed_out') || rcode !== undefined || timings?.connect !== undefined
  );
}

/** True if both measurements have the same outcome, or both have an answer. */
export function areAlike(a: ProbeResult, b: ProbeResult): boolean {
  return a.outcome === b.outcome || (works(a) && works(b));
}

export type IsTold = (measured: ProbeResult) => boolean;

/**
 * `isTold` for measurements over each family, and false if the resolver failed, which says nothing about the target. In
 * a dns check the answer of the resolver is what is measured, so its failures count.
 */
export function toldOver(type: string, measured: readonly (readonly ProbeResult[])[]): IsTold {
  if (type === 'dns') return isTold;
  const unresolved = new Set(measured.flatMap((own) => [...withFailedResolver(own)]));
  return (one) => isTold(one) && !unresolved.has(one);
}
