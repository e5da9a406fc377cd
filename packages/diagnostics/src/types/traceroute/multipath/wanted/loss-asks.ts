import { isFull, type TracePacket } from '../../probing/trace.ts';
import type { Ask } from '../survey.ts';

/** Packets to the target's hop that show whether it loses packets too. */
const TO_TARGET = 10;

/**
 * Packets to the hop of the target if it, or a router before it, left some packets unanswered: the search alone may
 * send the target too few to show loss.
 */
export function lossAsks(packets: readonly TracePacket[]): readonly Ask[] {
  const limited = packets.filter((packet) => !isFull(packet));
  const arrived = limited.filter(({ answer }) => answer?.kind === 'target');
  const known = arrived.at(-1);
  if (known === undefined) return [];
  // Packets that other flows lost at that hop do not count: their path may end before it.
  const reaching = new Set(arrived.map((packet) => packet.flow));
  const { flow, ttl } = known;
  const answering = new Set(limited.flatMap((one) => (one.answer?.kind === 'expired' ? [one.ttl] : [])));
  const isLost = (one: TracePacket): boolean =>
    one.answer === null && (one.ttl < ttl ? answering.has(one.ttl) : reaching.has(one.flow));
  const asked = limited.filter((one) => reaching.has(one.flow) && one.ttl >= ttl).length;
  return !limited.some(isLost) ? [] : Array.from({ length: Math.max(0, TO_TARGET - asked) }, () => ({ flow, ttl }));
}
