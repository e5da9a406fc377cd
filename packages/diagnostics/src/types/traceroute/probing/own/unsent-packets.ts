import { isIPv6 } from 'node:net';

import type { Failure } from '@vantage/contract';

import { icmpFailure, isOfProbe } from '../../../../sockets/icmp/icmp-failure.ts';
import { isExplained, type Unsent } from '../../../../sockets/unsent.ts';
import type { TraceDestination } from '../answer-kind.ts';
import type { Trace } from '../trace-state.ts';
import { isFull, rttOf, type TracePacket } from '../trace.ts';

/**
 * Packets to the target without an answer, from which on it counts as silent although later ones did not leave the
 * probe.
 */
const ENOUGH = 3;

/**
 * Leaves out the unanswered packets in a row that did not leave the probe, or whose silence that explains: packets before
 * may be lost on its link, too. If no answer came after them, the trace ends as an error of the probe, unless enough
 * others show that the target is silent.
 */
export function noteUnsent(trace: Trace, asked: TraceDestination): void {
  let silent: TracePacket[] = [];
  let unsent: Unsent[] = [];
  const leaveOut = (): void => {
    const explained = silent.filter(({ awaitedMs }) => isExplained(awaitedMs, unsent));
    for (const one of explained) [one.isLeftOut, one.isUnsent] = [true, true];
    [silent, unsent] = [[], []];
  };
  for (const packet of trace.packets) {
    const failure = whyUnsent(packet, asked);
    if (failure !== null) unsent.push({ ...timesOf(packet), failure });
    if (failure !== null || packet.answer === null) silent.push(packet);
    else leaveOut();
  }
  const proof = silentToTarget(trace).filter(({ awaitedMs }) => !isExplained(awaitedMs, unsent));
  if (proof.length >= ENOUGH) leaveOut();
  else trace.failure ??= unsent.at(-1)?.failure ?? null;
}

function timesOf(packet: TracePacket): Pick<Unsent, 'atMs' | 'reportedMs'> {
  return { atMs: packet.awaitedMs, reportedMs: packet.awaitedMs + (rttOf(packet) ?? 0) };
}

/** Packets given up after the last answer of the target whose TTL suffices to reach it. */
function silentToTarget({ packets, views }: Trace): readonly TracePacket[] {
  const lastAnswered = packets.findLastIndex(({ answer }) => answer?.kind === 'target');
  return packets.slice(lastAnswered + 1).filter((packet) => {
    const end = views[packet.flow]?.end ?? null;
    const isToTarget = isFull(packet) || (end !== null && packet.ttl >= end);
    return isToTarget && packet.answer === null && packet.isGivenUp && packet.isLeftOut !== true;
  });
}

/** True if the kernel refused to send, and no packet was answered before. */
export function hasSentNothing(trace: Trace): trace is Trace & { readonly failure: Failure } {
  return trace.failure?.phase === 'request' && trace.packets.every(({ answer }) => answer === null);
}

/** Why a packet did not leave the probe: its kernel refused it, or its next hop does not answer. Null if it did. */
function whyUnsent({ answer, unsent }: TracePacket, { destination, protocol }: TraceDestination): Failure | null {
  if (unsent !== undefined) return unsent;
  if (!answer?.error || !isOfProbe({ ...answer, error: answer.error })) return null;
  const failure = icmpFailure(
    isIPv6(destination) ? 6 : 4,
    { ...answer, error: answer.error },
    answer.from,
    destination,
    protocol === 'icmp' ? 'icmp' : 'udp',
  );
  return failure.source === 'probe' && failure.code === 'host_unreachable' ? failure : null;
}
