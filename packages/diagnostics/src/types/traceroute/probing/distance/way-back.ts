import { isFull, type TracePacket } from '../trace.ts';
import { isLossByChance } from './tunnels.ts';

/** Least probability of the silence in front of the target. */
const BY_CHANCE = 0.02;
/** Hops without any answer in front of a target that a path hardly has. */
const TOO_MANY = 10;
/** Common TTLs with which systems send. */
const FIRST_TTLS = [64, 128, 255] as const;

/**
 * A nearer hop of the target than `end`, the lowest TTL that it answered. Hops without any answer lie in front of it,
 * and it leaves packets unanswered, so many that chance explains this silence, or the hops are too many. The TTL of its
 * replies, compared with those of the last router, places it at one of them. Null if one of these is not so.
 *
 * @param lastExpired highest TTL of the flow that ran out at a router
 * @param packets those of all flows
 */
export function nearerByWayBack(
  own: readonly TracePacket[],
  end: number,
  lastExpired: number,
  packets: readonly TracePacket[],
): number | null {
  const router = own.find((one) => one.ttl === lastExpired && one.answer?.kind === 'expired' && !isFull(one));
  const arrived = own.filter(({ answer }) => answer?.kind === 'target');
  // An ICMP error quotes the remaining TTL, which tells more.
  if (arrived.some(({ answer }) => answer!.error !== null)) return null;
  const back = wayBack(arrived);
  const routerBack = router === undefined ? null : wayBack([router]);
  if (back === null || routerBack === null) return null;
  const hop = lastExpired + back - routerBack;
  if (hop <= lastExpired || hop >= end) return null;
  const silent = own.filter(
    ({ ttl, answer, isGivenUp }) => ttl > lastExpired && ttl < end && answer === null && isGivenUp,
  );
  const beyond = packets.filter(({ ttl }) => ttl >= end);
  const answered = beyond.filter(({ answer }) => answer?.kind === 'target').length;
  const lost = beyond.filter(({ answer, isGivenUp }) => answer === null && isGivenUp).length;
  if (silent.length === 0 || lost === 0) return null;
  return end - hop >= TOO_MANY || isLossByChance(silent.length, answered, lost, BY_CHANCE) ? hop : null;
}

/** Hops on the way of these replies, guessed from their TTL; null if it is unknown or not always the same. */
function wayBack(packets: readonly TracePacket[]): number | null {
  const [ttl, ...others] = new Set(packets.map(({ answer }) => answer?.hopLimit ?? null));
  const first = FIRST_TTLS.find((one) => ttl !== undefined && ttl !== null && one >= ttl);
  return first === undefined || others.length > 0 ? null : first - ttl! + 1;
}
