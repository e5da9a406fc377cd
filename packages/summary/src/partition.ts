import type { Summary } from '@vantage/contract';

import type { ProbeResult, SparseResultOf } from './probe-result.ts';
import { acceptsByClock, isDecidedByClock, isMisdatedAlone } from './clock.ts';
import { answersSome, limitsAnswers } from './answers-some.ts';
import { endsBeforeTarget } from './ends-before-target.ts';
import { thresholds } from './thresholds.ts';
import { isUnanswered, answerKindOf } from './dns-answer.ts';
import { unansweredEvidence } from './unanswered-pings.ts';
import { isBodyUnfinished } from './unfinished.ts';
import { isUnresolved, withFailedResolver, withFailingResolver } from './resolution.ts';

/**
 * A probe's evidence about the target. `impaired`: it answers, with faults. `silent`: no answer, or one that proves
 * nothing. `notMeasured`: the cause is the probe, its resolver, its clock, or the requested size or TTL of packets.
 */
export type Evidence = 'up' | 'impaired' | 'down' | 'silent' | 'notMeasured' | 'pending';

export interface Partition {
  readonly of: ReadonlyMap<string, Evidence>;
  readonly counts: Summary['counts'];
  /**
   * The only probe with an answer about the name, if that is negative and proves too little: the probe counts as silent
   * (dns) or not measured.
   */
  readonly lone: ProbeResult | undefined;
  /** The others, which learned nothing about the name; empty without `lone`. */
  readonly unlearned: readonly ProbeResult[];
  /** Probes for which the target is up or impaired. */
  readonly up: readonly ProbeResult[];
  readonly down: readonly ProbeResult[];
  readonly silent: readonly ProbeResult[];
  readonly notMeasured: readonly ProbeResult[];
  /** `up` and `down`: the probes that determine the verdict. */
  readonly counted: readonly ProbeResult[];
}

export function partitionByOutcome(type: string, probeResults: readonly ProbeResult[]): Partition {
  const unresolved = type === 'dns' ? withFailingResolver(probeResults) : withFailedResolver(probeResults);
  const unlearned = type === 'dns' ? 'silent' : 'notMeasured';
  const first = probeResults.map((probeResult) =>
    unresolved.has(probeResult) ? unlearned : evidenceOf(type, probeResult, probeResults),
  );
  // If another probe found the port open at the same address, silence counts as a failure.
  const open = new Set(
    probeResults.filter((_, index) => type === 'udp' && first[index] === 'up').map(({ result }) => result.resolvedIp),
  );
  const lone =
    type === 'dns'
      ? loneNegative(probeResults, first, (_, evidence) => evidence === 'silent')
      : loneUnresolved(probeResults, first);
  const of = new Map(
    probeResults.map((probeResult, index) => {
      const isDown = first[index] === 'silent' && open.has(probeResult.result.resolvedIp);
      return [probeResult.probe, isDown ? 'down' : probeResult === lone ? unlearned : first[index]!];
    }),
  );
  const on = (...kinds: readonly Evidence[]): readonly ProbeResult[] =>
    probeResults.filter(({ probe }) => kinds.includes(of.get(probe)!));
  const [up, down, silent, notMeasured, pending] = [
    on('up', 'impaired'),
    on('down'),
    on('silent'),
    on('notMeasured'),
    on('pending'),
  ];
  const others = type === 'dns' ? silent : notMeasured.filter(isUnresolved);
  return {
    of,
    lone,
    unlearned: lone === undefined ? [] : others.filter((one) => one !== lone),
    up,
    down,
    silent,
    notMeasured,
    counted: on('up', 'impaired', 'down'),
    counts: {
      up: up.length,
      down: down.length,
      silent: silent.length,
      notMeasured: notMeasured.length,
      pending: pending.length,
    },
  };
}

/**
 * The only answer about a name, if it is negative and two or more probes learned nothing about it: a network that breaks
 * resolvers, or a filter, may have made it. Undefined if a resolver that validates or the servers of a trace gave it:
 * these are proof.
 */
function loneNegative(
  probeResults: readonly ProbeResult<SparseResultOf<'dns'>>[],
  evidence: readonly Evidence[],
  isUnlearned: (probeResult: ProbeResult, evidence: Evidence) => boolean,
): ProbeResult | undefined {
  const unlearned = probeResults.filter((one, index) => isUnlearned(one, evidence[index]!)).length;
  const [answered, ...others] = probeResults.filter(
    (_, index) => !['silent', 'notMeasured'].includes(evidence[index]!),
  );
  if (answered === undefined || others.length > 0 || unlearned < 2) return undefined;
  const { trace, dnssec } = answered.result;
  const isProved = trace !== undefined || ['validated', 'validation_failed'].includes(dnssec?.verdict ?? '');
  return evidence[probeResults.indexOf(answered)] === 'down' && !isProved ? answered : undefined;
}

/** Of a check that is not of dns: the only probe that says that the name does not resolve, if none resolved it. */
function loneUnresolved(probeResults: readonly ProbeResult[], evidence: readonly Evidence[]): ProbeResult | undefined {
  // A redirect is an answer of the target.
  const isResolved = ({ result }: ProbeResult<SparseResultOf<'http'>>): boolean =>
    typeof result.resolvedIp === 'string' || (result.redirects ?? []).length > 0;
  const lone = loneNegative(probeResults, evidence, isUnresolved);
  return lone?.result.error?.phase === 'resolve' && !probeResults.some(isResolved) ? lone : undefined;
}

function evidenceOf(type: string, probeResult: ProbeResult, all: readonly ProbeResult[]): Evidence {
  const { outcome, result } = probeResult;
  if (outcome === 'pending') return 'pending';
  if (outcome === 'error' || result.error?.source === 'probe') return 'notMeasured';
  if (type === 'ping' && outcome !== 'success') return unansweredEvidence(probeResult, all);
  if (type === 'traceroute' && isTooLarge(probeResult.result)) return 'notMeasured';
  if (type === 'http') return httpEvidence(probeResult);
  if (type === 'dns') return dnsEvidence(outcome, probeResult.result);
  if (outcome === 'success') return 'up';
  if (result.error?.phase === 'resolve') return 'down';
  const isOpen = type === 'traceroute' && (outcome === 'timeout' || answersEchoAlone(probeResult.result));
  if (isOpen) return unreachedEvidence(probeResult.result, all);
  return type === 'udp' && outcome === 'timeout' ? 'silent' : 'down';
}

/**
 * Evidence of a trace that did not reach the target.
 *
 * - If the target answered echo requests: `up` if a rate limit of its answers may explain the silence, else `impaired`,
 *   as if a router refused the packets of the trace.
 * - Otherwise, without a loop: `silent` if the time limit ended the trace before it sent `fullTtlAsked` packets per
 *   flow with the full TTL, if the target answered another trace of the probe, or if it may rate-limit its answers.
 * - `down` in all other cases.
 */
function unreachedEvidence(result: SparseResultOf<'traceroute'>, all: readonly ProbeResult[]): Evidence {
  const others = all.filter((other) => other.result.resolvedIp === result.resolvedIp);
  if (answersEchoAlone(result)) {
    return goesRound(result) || isRefused(result) || !answersSome(others) || endsBeforeTarget(result, others)
      ? 'impaired'
      : 'up';
  }
  if (goesRound(result)) return 'down';
  const { stopReason, fullTtl, flows = [] } = result;
  if (fullTtl?.answersOthers === true) return 'silent';
  const asked = (fullTtl?.rtts.length ?? 0) / Math.max(1, flows.length);
  if (stopReason === 'deadline' && asked < thresholds.fullTtlAsked) return 'silent';
  return answersSome(others) || limitsAnswers(others) ? 'silent' : 'down';
}

/**
 * True for a trace whose packets ran into a routing loop: no rate limit of the target's answers explains their silence.
 */
export function goesRound({ loop }: SparseResultOf<'traceroute'>): boolean {
  return loop !== null && loop !== undefined;
}

/** True for a trace whose packets a router refused by an ICMP error. */
export function isRefused({ reached, error }: SparseResultOf<'traceroute'>): boolean {
  return reached !== true && error?.source === 'network' && error.code !== 'timed_out';
}

/** True if the target answered echo requests that accompany or follow a trace, but none of the trace's packets. */
export function answersEchoAlone({ reached, echo, ordinary }: SparseResultOf<'traceroute'>): boolean {
  return reached !== true && (echo?.received ?? 0) + (ordinary?.received ?? 0) > 0;
}

/** True for a trace whose requested size did not pass a link of the path: that says nothing about the target. */
export function isTooLarge({ size, error }: SparseResultOf<'traceroute'>): boolean {
  return size !== undefined && error?.code === 'packet_too_big';
}

/**
 * An inconclusive answer counts as silence. A loop of aliases counts as a failure, whatever the rcode, and so does an
 * answer of a zone’s servers with only records that were not asked for (`foreign`).
 */
function dnsEvidence(outcome: 'success' | 'failure' | 'timeout', result: SparseResultOf<'dns'>): Evidence {
  if (isUnanswered(result)) return 'silent';
  const kind = answerKindOf(result);
  return outcome === 'success' && kind !== 'foreign' && kind !== 'loop' ? 'up' : 'down';
}

/** Failures after the target answered: of redirects, except a loop, and of the browser. */
const answeredAnyway: ReadonlySet<string> = new Set(['redirect_refused', 'redirect_limit', 'screenshot_failed']);

function httpEvidence(probeResult: ProbeResult<SparseResultOf<'http'>>): Evidence {
  const { outcome, result } = probeResult;
  const { error, statusCode, tls } = result;
  if (isDecidedByClock(probeResult)) return 'notMeasured';
  const isUntrusted = (tls?.authorized === false && !isMisdatedAlone(result)) || acceptsByClock(result);
  if (outcome === 'success') return isUntrusted ? 'impaired' : 'up';
  const code = error?.code;
  if (code === 'http_status' || isBodyUnfinished(result))
    return statusCode !== undefined && statusCode < 500 ? 'impaired' : 'down';
  return code !== undefined && answeredAnyway.has(code) ? 'impaired' : 'down';
}
