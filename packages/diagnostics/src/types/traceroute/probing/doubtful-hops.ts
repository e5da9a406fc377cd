import type { TracePacket } from './trace.ts';

/**
 * Hops that need further packets, because a silent one may be the target's:
 *
 * - If the TTL that the target quotes gives a silent hop: that hop, and the end, to compare both.
 * - Otherwise, if another flow has found the target nearer: the silent hops directly before both distances.
 * - Otherwise the silent hop before the end, if packets are lost, or if the only packet sent there cannot distinguish a
 *   silent router from a lost packet.
 */
export function doubtfulHops(
  own: readonly TracePacket[],
  end: number,
  nearest: number,
  queries: number,
  quoted: number | null,
): readonly number[] {
  const isAnswered = (ttl: number): boolean => own.some((one) => one.ttl === ttl && one.answer !== null);
  const isSilent = (ttl: number): boolean => !isAnswered(ttl) && own.some((one) => one.ttl === ttl && one.isGivenUp);
  const isLost = ({ ttl, answer, isGivenUp }: TracePacket): boolean =>
    answer === null && isGivenUp && (ttl >= end || isAnswered(ttl));
  if (quoted !== null && isSilent(quoted)) return [quoted, end];
  if (nearest < end) return [nearest - 1, end - 1].filter(isSilent);
  const isDoubtful = end > 1 && !isAnswered(end - 1) && (own.some(isLost) || (queries === 1 && isSilent(end - 1)));
  return isDoubtful ? [end - 1] : [];
}
