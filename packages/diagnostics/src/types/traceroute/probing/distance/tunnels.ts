import { isFull, type TracePacket } from '../trace.ts';

/** The hop of the target, and a nearer one that is still to be probed because the target quotes a TTL above 1. */
export interface TargetDistance {
  readonly end: number;
  readonly doubt: number | null;
}

/** Minimum number of packets on each side of the comparison. */
const ENOUGH = 6;
/** A tunnel is concluded only if the probability that chance lost the packets is at most this. */
const BY_CHANCE = 0.005;

/**
 * Decides between the hop that the quoted TTL gives (`quoted`) and the lowest TTL that the target answered. Either the
 * packets to the nearer hop were lost, or a tunnel that copies the TTL drops them: its routers decrement the outer TTL
 * only, so that packets which get through arrive with a higher inner TTL. No packet with the lower TTL arrives then,
 * although the others do. A target that rate-limits its answers leaves both unanswered.
 *
 * @param packets those of all flows
 */
export function targetDistance(
  quoted: number,
  own: readonly TracePacket[],
  packets: readonly TracePacket[],
): TargetDistance {
  const answeredAt = Math.min(...own.filter(isArrival).map(({ ttl }) => ttl));
  if (quoted >= answeredAt || answeredAt === Infinity) return { end: quoted, doubt: null };
  const limited = packets.filter((packet) => !isFull(packet));
  if (limited.some((packet) => packet.ttl === quoted && isArrival(packet))) return { end: quoted, doubt: null };
  const before = limited.filter((packet) => packet.ttl >= quoted && packet.ttl < answeredAt && isLost(packet)).length;
  const beyond = limited.filter(({ ttl }) => ttl >= answeredAt);
  const answered = beyond.filter(isArrival).length;
  const lost = beyond.filter(isLost).length;
  if (before >= ENOUGH && !isLossByChance(before, answered, lost)) return { end: answeredAt, doubt: null };
  const isDecided = before >= ENOUGH && answered + lost >= ENOUGH;
  return isDecided ? { end: quoted, doubt: null } : { end: answeredAt, doubt: quoted };
}

function isArrival(packet: TracePacket): boolean {
  return packet.answer?.kind === 'target' && !isFull(packet);
}

function isLost({ answer, isGivenUp }: TracePacket): boolean {
  return answer === null && isGivenUp;
}

/**
 * True if chance alone may have lost all `before` packets to a nearer hop, given the packets beyond it (Fisher's exact
 * test).
 */
export function isLossByChance(before: number, answered: number, lost: number, level: number = BY_CHANCE): boolean {
  let chance = 1;
  for (let i = 0; i < before; i += 1) chance *= (before + lost - i) / (before + lost + answered - i);
  return chance > level;
}
