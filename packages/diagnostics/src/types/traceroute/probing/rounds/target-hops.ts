import { GAP_LIMIT, viewFlows, type FlowView, type TraceLimits } from '../flow-view.ts';
import type { TracePacket } from '../trace.ts';
import { isLossByChance } from '../distance/tunnels.ts';

/** The hop of the target from a round on. */
export interface TargetHop {
  hop: number;
  readonly round: number;
}

/**
 * Within this number of rounds after the target was found at a hop, an answer at a nearer hop is a correction: the
 * first answers there were lost. Later it shows that the path has changed, unless chance explains the missing answers.
 */
const FRESH_ROUNDS = 2;

/** Distance of the target according to the rounds so far. */
export interface TargetHops {
  readonly hops: readonly TargetHop[];
  /**
   * The present hop; null until the target has answered, and from an answer of a router at its hop or beyond on until
   * it answers again.
   */
  readonly now: number | null;
}

/** Flow state from the packets of the first round only. */
export function viewFirstRound(packets: readonly TracePacket[], limits: TraceLimits): FlowView {
  const own = packets.filter(({ round }) => round === undefined);
  return viewFlows(own, 1, limits, new Set())[0]!;
}

/**
 * Follows the target through the rounds of one flow. Its path became longer if packets expire at a router where the
 * target was, and shorter if it answers where a router was. Silence and refusals show neither.
 */
export function targetHopsOf(packets: readonly TracePacket[], limits: TraceLimits): TargetHops {
  const first = viewFirstRound(packets, limits);
  let now = first.reached ? first.end : null;
  const hops: TargetHop[] = now === null ? [] : [{ hop: now, round: 1 }];
  const passed = new Set(expiredAt(packets.filter(({ round }) => round === undefined)));
  const rounds = Map.groupBy(packets, ({ round = 1 }) => round);
  for (const [round, own] of [...rounds].toSorted(([a], [b]) => a - b)) {
    if (round === 1) continue;
    const expired = expiredAt(own);
    const furthest = Math.max(0, ...expired);
    // The quoted TTL does not give the distance: behind a tunnel it may be above 1 at the target's own hop.
    const nearest = Math.min(...own.flatMap(({ ttl, answer }) => (answer?.kind === 'target' ? [ttl] : [])));
    const found = nearest === Infinity || nearest <= furthest ? null : nearest;
    if (now !== null && furthest >= now) now = found;
    else if (found !== null && (now === null || found < now)) now = found;
    for (const ttl of expired) passed.add(ttl);
    note(hops, now, round, passed, packets);
  }
  return { hops, now };
}

function note(
  hops: TargetHop[],
  now: number | null,
  round: number,
  passed: ReadonlySet<number>,
  packets: readonly TracePacket[],
): void {
  const last = hops.at(-1);
  if (now === null || now === last?.hop) return;
  // No router has answered at the nearer hop or behind it: the target may have been there before, with its first
  // answers lost.
  const isNearer = last !== undefined && now < last.hop && ![...passed].some((ttl) => ttl >= now);
  if (isNearer && (round - last.round <= FRESH_ROUNDS || mayHaveBeen(now, last, round, packets))) last.hop = now;
  else hops.push({ hop: now, round });
}

/**
 * True if chance explains that the target answered none of the packets to a nearer hop before this round, given its
 * answers to those that went farther.
 */
function mayHaveBeen(
  nearer: number,
  { hop, round }: TargetHop,
  until: number,
  packets: readonly TracePacket[],
): boolean {
  const settled = packets.filter(
    (one) => (one.round ?? 1) >= round && (one.round ?? 1) < until && (one.answer !== null || one.isGivenUp),
  );
  const [near, far] = [
    settled.filter(({ ttl }) => ttl >= nearer && ttl < hop),
    settled.filter(({ ttl }) => ttl >= hop),
  ];
  const lost = far.filter(({ answer }) => answer === null).length;
  return isLossByChance(near.length, far.length - lost, lost);
}

function expiredAt(packets: readonly TracePacket[]): readonly number[] {
  return packets.flatMap(({ ttl, answer }) => (answer?.kind === 'expired' ? [ttl] : []));
}

/**
 * The highest TTL of the second round: the hop of the target, or the one at which a router refused the packets. If only
 * packets with the full TTL show that the target answers, it is the hop behind the last router; without an end, all
 * hops that were asked are probed.
 */
export function firstLastHop(packets: readonly TracePacket[], limits: TraceLimits): number {
  const { end, reached, horizon } = viewFirstRound(packets, limits);
  if (!reached || end !== null) return end ?? horizon;
  return Math.min(limits.maxHops, Math.max(limits.firstHop, ...expiredAt(packets).map((ttl) => ttl + 1)));
}

/**
 * The highest TTL of the next round: the target's hop. If a router answers where the target was, or where another
 * router refused the packets, or if the hop of a target that answers is not known, the TTL grows by one hop per round,
 * up to `GAP_LIMIT` hops behind the last router: so the target gets one packet per round.
 *
 * @param last highest TTL of the last round
 */
export function nextLastHop(packets: readonly TracePacket[], last: number, limits: TraceLimits): number {
  const { hops, now } = targetHopsOf(packets, limits);
  if (now !== null) return now;
  const furthest = Math.max(0, ...expiredAt(packets));
  const first = viewFirstRound(packets, limits);
  const end = hops.at(-1)?.hop ?? first.end;
  if (end === null ? !first.reached : furthest < end) return last;
  return Math.min(limits.maxHops, Math.max(last, Math.min(last + 1, furthest + GAP_LIMIT)));
}
