import { isFull, type TracePacket } from '../trace.ts';
import { isLossByChance } from './tunnels.ts';

/** Silence before the target may be loss if it has at least this probability by chance. */
const BY_CHANCE = 0.02;
/**
 * Number of silent hops before the target from which they are taken for loss: a path hardly has so many silent routers.
 */
const TOO_MANY = 10;
/** Number of routers whose return paths are compared with the target's. */
const COMPARED = 3;
/** Common initial TTLs of IP stacks. */
const FIRST_TTLS = [64, 128, 255] as const;

/**
 * Finds a nearer hop of the target than `end`, the lowest TTL that it answered. The TTL of its replies, compared with
 * those of the last routers, must place it at a hop behind the last router. Packets to hops before `end` and to the
 * target itself must have been lost, and chance must explain the silence before `end`, or the silent hops must be too
 * many. Null if one of these conditions fails.
 *
 * @param lastExpired highest TTL of the flow that expired at a router
 * @param packets those of all flows
 */
export function nearerByWayBack(
  own: readonly TracePacket[],
  end: number,
  lastExpired: number,
  packets: readonly TracePacket[],
): number | null {
  const arrived = own.filter(({ answer }) => answer?.kind === 'target');
  // An ICMP error quotes the remaining TTL, which is better evidence.
  if (arrived.some(({ answer }) => answer!.error !== null)) return null;
  const back = wayBack(arrived);
  const longer = detourOfRouters(own);
  if (back === null || longer === null) return null;
  const hop = back - longer;
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

/**
 * Number of hops by which the return paths of the last routers are longer than the forward paths; null unless it is the
 * same for all of them. If only one router answered, the number must be 0, because it may answer over another path than
 * the target.
 */
function detourOfRouters(own: readonly TracePacket[]): number | null {
  const expired = own.filter((packet) => packet.answer?.kind === 'expired' && !isFull(packet));
  const byHop = Map.groupBy(expired, ({ ttl }) => ttl);
  const last = [...byHop.keys()].toSorted((a, b) => b - a).slice(0, COMPARED);
  const detours = last.map((ttl) => {
    const back = wayBack(byHop.get(ttl)!);
    return back === null ? null : back - ttl;
  });
  if (detours.length === 1) return detours[0] === 0 ? 0 : null;
  return detours.every((detour) => detour === detours[0]) ? (detours[0] ?? null) : null;
}

/**
 * Number of hops on the path of these replies, guessed from their TTL; null if it is unknown or not always the same.
 */
function wayBack(packets: readonly TracePacket[]): number | null {
  const [ttl, ...others] = new Set(packets.map(({ answer }) => answer?.hopLimit ?? null));
  const first = FIRST_TTLS.find((one) => ttl !== undefined && ttl !== null && one >= ttl);
  return first === undefined || others.length > 0 ? null : first - ttl! + 1;
}
