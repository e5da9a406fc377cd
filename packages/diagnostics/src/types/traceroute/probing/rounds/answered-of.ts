import { LENGTHS, type FlowAnswer } from '../flow.ts';
import { isAwaited, type TracePacket } from '../trace.ts';

/** The packet of a flow with rounds that an answer is for; undefined if it cannot be assigned to one. */
export function answeredOf(packets: readonly TracePacket[], { index, remainder }: FlowAnswer): TracePacket | undefined {
  if (index !== null && packets[index] !== undefined) return packets[index];
  const open = packets.filter(isAwaited);
  if (remainder !== undefined) return open.findLast((one) => one.index % LENGTHS === remainder);
  // A reply without a number is from the target: it is taken as the answer to the farthest, latest open packet.
  return index === null ? open.toSorted((a, b) => b.ttl - a.ttl || b.index - a.index)[0] : undefined;
}
