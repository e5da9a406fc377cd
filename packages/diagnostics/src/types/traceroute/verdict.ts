import type { Failure, Target } from '@vantage/contract';

import { outcomeOf, timedOut } from '../../shared/classify-error.ts';
import type { Outcome } from '../../diagnostic.ts';
import { icmpFailure } from '../../sockets/icmp/icmp-failure.ts';
import type { traceroute } from './contract.ts';
import type { Loop } from './probing/loop.ts';
import type { Trace } from './probing/trace-state.ts';
import { isReached, otherSenders, portStateOf, rtOf } from './hops/target-answers.ts';
import { MAX_ANSWERED_FROM } from './reply-fields.ts';
import { FULL_TTL } from './result-fields.ts';
import { isFull, type TraceAnswer } from './probing/trace.ts';

type Verdict = Pick<
  Outcome<typeof traceroute>,
  'result' | 'rt' | 'error' | 'reached' | 'loop' | 'state' | 'answeredFrom'
>;

/** @param publicIp the public form of an address; null if it is hidden */
export function verdict(
  trace: Trace,
  protocol: 'icmp' | 'udp' | 'tcp',
  target: Target,
  publicIp: (address: string) => string | null,
): Verdict {
  const found = trace.views.find(({ loop }) => loop !== null)?.loop ?? null;
  const loop = found === null ? null : { start: found.start, length: found.length };
  const reached = isReached(trace);
  const error = failureOf(trace, protocol, target, publicIp);
  const state = portStateOf(trace);
  const answeredFrom = otherSenders(trace, target.address).flatMap((from) => publicIp(from) ?? []);
  const known = {
    reached,
    loop,
    ...(state !== undefined && { state }),
    ...(answeredFrom.length > 0 && { answeredFrom: answeredFrom.slice(0, MAX_ANSWERED_FROM) }),
  };
  if (error === null) return { result: 'success', rt: rtOf(trace), error, ...known };
  return { result: outcomeOf(error), rt: null, error, ...known };
}

/**
 * True if the target answers none of the packets, and nothing says that their size is why: a filter may refuse them for
 * their DSCP.
 */
export function isUnanswered(
  trace: Trace,
  protocol: 'icmp' | 'udp' | 'tcp',
  target: Pick<Target, 'family' | 'address'>,
): boolean {
  if (trace.failure !== null || isReached(trace)) return false;
  const refusal = refusalOf(trace, protocol);
  return !refusal?.error || failureOfRefusal(refusal, refusal.error, protocol, target, null).code !== 'packet_too_big';
}

function failureOf(
  trace: Trace,
  protocol: 'icmp' | 'udp' | 'tcp',
  target: Target,
  publicIp: (address: string) => string | null,
): Failure | null {
  if (trace.failure !== null) return trace.failure;
  const refusal = refusalOf(trace, protocol);
  if (refusal?.error) return failureOfRefusal(refusal, refusal.error, protocol, target, publicIp(refusal.from));
  if (isReached(trace)) return null;
  const loop = trace.views.find((view) => view.loop !== null)?.loop;
  return timedOut('response', loop ? circling(loop) : silence(trace));
}

function failureOfRefusal(
  { from }: TraceAnswer,
  error: NonNullable<TraceAnswer['error']>,
  protocol: 'icmp' | 'udp' | 'tcp',
  { family, address }: Pick<Target, 'family' | 'address'>,
  shown: string | null,
): Failure {
  return icmpFailure(family, { error, from }, shown, address, protocol === 'icmp' ? 'icmp' : 'udp');
}

/**
 * The ICMP error that ends the path; null if none does. Errors of the target itself count only for echo requests, and
 * only if it answered none of them otherwise: to a datagram they are the expected answer, and to a SYN an answer like
 * any other.
 */
function refusalOf({ packets, views }: Trace, protocol: 'icmp' | 'udp' | 'tcp'): TraceAnswer | null {
  const answered = packets.flatMap(({ flow, ttl, answer }) => (answer === null ? [] : [{ flow, ttl, answer }]));
  const byTarget = answered.filter(({ answer }) => answer.kind === 'target');
  if (byTarget.length > 0) {
    const isRefused = protocol === 'icmp' && byTarget.every(({ answer }) => answer.error !== null);
    return isRefused ? byTarget[0]!.answer : null;
  }
  const standing = answered.find(({ flow, ttl, answer }) => {
    const { end } = views[flow]!;
    return answer.kind === 'refused' && (end === null ? ttl === FULL_TTL : ttl >= end);
  });
  return standing?.answer ?? null;
}

function circling({ start, length }: Loop): string {
  return length === 1
    ? `One router answers for every hop from ${start} on.`
    : `The packets go round in a circle of ${length} hops from hop ${start}.`;
}

function silence({ packets, isCut }: Trace): string {
  const answered = packets.filter((packet) => packet.answer !== null && !isFull(packet)).map(({ ttl }) => ttl);
  if (answered.length === 0) return `${isCut ? 'Until time ran out no' : 'No'} hop answered, nor did the target.`;
  const time = isCut ? 'Until time ran out the' : 'The';
  return `${time} target did not answer; the last hop that did is ${Math.max(...answered)}.`;
}
