import { median } from './hops.ts';
import type { Trace } from '../probing/trace-state.ts';
import { rttOf } from '../probing/trace.ts';

export function isReached({ views }: Trace): boolean {
  return views.some(({ reached }) => reached);
}

/** Number of packets that the target has answered. */
export function targetAnswers({ packets }: Trace): number {
  return packets.filter(({ answer }) => answer?.kind === 'target').length;
}

/** Median round-trip time to the target, milliseconds; null if it answered no packet. */
export function rtOf({ packets }: Trace): number | null {
  const atTarget = packets.filter(({ answer }) => answer?.kind === 'target');
  return median(atTarget.flatMap((packet) => rttOf(packet) ?? []));
}

/** True if a packet that counts at the last hop of its flow was not answered, or was refused by a router. */
export function isLossy({ views }: Trace): boolean {
  return views.some(({ atEnd }) => atEnd.some(({ answer }) => answer === null || answer.kind === 'refused'));
}

/** State of the port: `open` if any SYN was accepted, else `closed` if any was reset; undefined without either. */
export function portStateOf({ packets }: Trace): 'open' | 'closed' | undefined {
  const replies = new Set(packets.map(({ answer }) => (answer?.kind === 'target' ? answer.reply : undefined)));
  if (replies.has('accepted')) return 'open';
  return replies.has('reset') ? 'closed' : undefined;
}

/** The senders of the target's answers if none is its address; a host answers from several, or another in its place. */
export function otherSenders({ packets }: Trace, address: string): readonly string[] {
  const senders = new Set(packets.flatMap(({ answer }) => (answer?.kind === 'target' ? answer.from : [])));
  return senders.has(address) ? [] : [...senders];
}
