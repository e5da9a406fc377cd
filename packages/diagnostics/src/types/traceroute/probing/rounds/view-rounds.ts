import { viewFlows, type FlowView, type TraceLimits } from '../flow-view.ts';
import { targetHopsOf, viewFirstRound, type TargetHop } from './target-hops.ts';
import type { TracePacket } from '../trace.ts';

/**
 * State of the flow of a trace with rounds. Once a hop of the target is known, each packet of a later round counts at
 * the hop of its TTL.
 */
export function viewRounds(packets: readonly TracePacket[], limits: TraceLimits): FlowView {
  const all = viewFlows(packets, 1, limits, new Set())[0]!;
  if (!all.reached) return all;
  const first = viewFirstRound(packets, limits);
  const { hops, now } = targetHopsOf(packets, limits);
  if (hops.length === 0) return all;
  const furthest = Math.max(...hops.map(({ hop }) => hop));
  const end = Math.max(furthest, ...ttlsBeyond(packets, now));
  return {
    ...all,
    end,
    horizon: end,
    scoutsTo: end,
    hopOf: (packet) => {
      if (packet.round === undefined) return first.hopOf(packet);
      // An answer of the target beyond all of its hops: this packet was searching for it when the path became shorter
      // again.
      return packet.ttl > furthest && packet.answer?.kind === 'target' ? null : packet.ttl;
    },
    atEnd: packets.filter((packet) => isSentToTarget(packet, hops, first)),
  };
}

/**
 * TTLs of the rounds at which routers answered, also where the target was before: without them the result would not
 * show that packets go on there, as in a loop. While the target is searched for, those without an answer too.
 */
function ttlsBeyond(packets: readonly TracePacket[], now: number | null): readonly number[] {
  return packets.flatMap(({ round, ttl, answer }) =>
    round !== undefined && (answer?.kind === 'expired' || (now === null && answer === null)) ? [ttl] : [],
  );
}

/** How many packets were sent to the target at a hop, and how many of them it answered. */
export interface TargetCount extends Readonly<TargetHop> {
  readonly sent: number;
  readonly received: number;
}

/**
 * The hops of the target if its distance changed, or if it first answered at one in a later round; otherwise undefined.
 */
export function countsByTargetHop(
  packets: readonly TracePacket[],
  limits: TraceLimits,
): readonly TargetCount[] | undefined {
  const first = viewFirstRound(packets, limits);
  const { hops } = targetHopsOf(packets, limits);
  if (hops.length < 2 && (hops[0]?.round ?? 1) === 1) return undefined;
  return hops.map((one, index) => {
    const own = packets.filter(
      (packet) =>
        epochOf(packet, hops) === index &&
        isSentToTarget(packet, hops, first) &&
        (packet.answer !== null || packet.isGivenUp),
    );
    return { ...one, sent: own.length, received: own.filter(({ answer }) => answer?.kind === 'target').length };
  });
}

/**
 * True for a packet sent with the TTL of the target's hop at that time, or, before the rounds, one of those that count
 * at the end of the first flow; not if it expired.
 */
function isSentToTarget(packet: TracePacket, hops: readonly TargetHop[], first: FlowView): boolean {
  if (packet.answer?.kind === 'expired') return false;
  if (packet.round === undefined) return first.atEnd.includes(packet);
  return hops[epochOf(packet, hops)]?.hop === packet.ttl;
}

function epochOf({ round = 1 }: TracePacket, hops: readonly TargetHop[]): number {
  return hops.findLastIndex((one) => one.round <= round);
}
