import type { TracePacket } from './trace.ts';

/**
 * Hops that need further packets. The silent hop before the end is one if it may be the target's: packets are lost,
 * another flow has found the target nearer, or the only packet sent there cannot distinguish a silent router from a
 * lost packet. So is the silent hop before the nearer target: if the other flow has a router there, the target is where
 * that flow found it. If the TTL that the target quotes gives a silent hop, that hop and the end are compared.
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
