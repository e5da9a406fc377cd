import { isIPv6 } from 'node:net';

import type { Failure } from '@vantage/contract';

import { icmpFailure, isOfProbe } from '../../../../sockets/icmp/icmp-failure.ts';
import type { Asked } from '../answer-kind.ts';
import type { Trace } from '../trace-state.ts';
import type { TracePacket } from '../trace.ts';

/**
 * Leaves out the unanswered packets in a row of which one did not leave the probe, since silence before it may be due to
 * its link, too. If no answer came after them, the trace ends as an error of the probe.
 */
export function noteUnsent(trace: Trace, asked: Asked): void {
  let silent: TracePacket[] = [];
  let failure: Failure | null = null;
  for (const packet of trace.packets) {
    const unsent = whyUnsent(packet, asked);
    failure = unsent ?? failure;
    if (packet.answer === null || unsent !== null) {
      silent.push(packet);
      continue;
    }
    if (failure !== null) for (const one of silent) [one.isLeftOut, one.isUnsent] = [true, true];
    [silent, failure] = [[], null];
  }
  trace.failure ??= failure;
}

/** True if the kernel refused to send, and no packet was answered before. */
export function hasSentNothing(trace: Trace): trace is Trace & { readonly failure: Failure } {
  return trace.failure?.phase === 'request' && trace.packets.every(({ answer }) => answer === null);
}

/** Why a packet did not leave the probe: its kernel refused it, or its next hop does not answer. Null if it did. */
function whyUnsent({ answer, unsent }: TracePacket, { destination, protocol }: Asked): Failure | null {
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
