import { doubtfulHops } from './doubtful-hops.ts';
import { endOf, sharedEnds, type End } from './distance/flow-end.ts';
import { findLoop, type Loop } from './loop.ts';
import { isAwaited, isFull, type TracePacket } from './trace.ts';

export interface TraceLimits {
  /** Lowest TTL to send. */
  readonly firstHop: number;
  readonly maxHops: number;
  readonly queries: number;
}

/** Number of silent hops after the last answer that are probed as often as all others. */
export const GAP_LIMIT = 5;

/**
 * Additional packets to each of `doubtfulHops`: a silent hop before the target may be the target's own if packets are
 * lost.
 */
const DOUBT_QUERIES = 5;

/** State of one flow: its end and which packets are still wanted, derived from the packets. */
export interface FlowView {
  /** The hop at which the path ended: the target's, or the lowest TTL that a router refused; null if unknown. */
  readonly end: number | null;
  /** Whether the target answered any packet; without `end` its distance is not known. */
  readonly reached: boolean;
  readonly loop: Loop | null;
  /**
   * Highest answered TTL, packets with the full TTL excluded; if none was answered, the TTL before the first one sent.
   */
  readonly lastAnswered: number;
  /** Highest TTL that can still give new information. */
  readonly horizon: number;
  /** Highest TTL that is probed at least once: the horizon, or `maxHops` if the flow has stalled. */
  readonly scoutsTo: number;
  /**
   * Packets sent per TTL; Infinity below the first hop. At the end of the path, those with higher TTLs count too: they
   * reached it.
   */
  readonly sentAt: readonly number[];
  /** Packets wanted per TTL, up to the horizon. */
  readonly wantedAt: (ttl: number) => number;
  /**
   * Packets that count at the end of the path: the first ones that reached it, `queries` of them or more up to the
   * first answered one, and all of the rounds.
   */
  readonly atEnd: readonly TracePacket[];
  /** The hop at which a packet of the flow counts; null if at none. */
  readonly hopOf: (packet: TracePacket) => number | null;
}

/**
 * State of all flows. If one flow has reached the target, another flow without answers from that hop on is not probed
 * further: a host may answer only some packets.
 *
 * @param stalled flows without a recent answer
 */
export function viewFlows(
  packets: readonly TracePacket[],
  count: number,
  limits: TraceLimits,
  stalled: ReadonlySet<number>,
): readonly FlowView[] {
  const byFlow: TracePacket[][] = Array.from({ length: count }, () => []);
  for (const packet of packets) if (packet.isLeftOut !== true) byFlow[packet.flow]!.push(packet);
  const counted = byFlow.flat();
  const ends = sharedEnds(byFlow.map((own) => endOf(own, limits, counted)));
  const nearest = Math.min(...ends.map(({ end, reached }) => (reached ? (end ?? Infinity) : Infinity)));
  return byFlow.map((own, flow) => viewFlow(own, ends[flow]!, nearest, limits, stalled.has(flow)));
}

function viewFlow(
  own: readonly TracePacket[],
  { end, doubt, reached }: End,
  nearest: number,
  { firstHop, maxHops, queries }: TraceLimits,
  isStalled: boolean,
): FlowView {
  // TTLs below the first hop count as sent often enough (Infinity): no packet is wanted there.
  const sentAt = Array<number>(maxHops + 1)
    .fill(0)
    .fill(Infinity, 0, firstHop);
  const path = Array<string | null>(maxHops).fill(null);
  let lastAnswered = firstHop - 1;
  for (const packet of own) {
    const { ttl, answer } = packet;
    if (isFull(packet)) continue;
    sentAt[ttl]! += 1;
    if (answer === null) continue;
    lastAnswered = Math.max(lastAnswered, ttl);
    if (answer.kind === 'expired') path[ttl - 1] ??= answer.from;
  }
  const beyond = end === null ? [] : own.filter(({ ttl, answer }) => ttl >= end && answer?.kind !== 'expired');
  if (end !== null) sentAt[end] = beyond.length;
  const loop = end === null && !reached ? findLoop(path.slice(0, lastAnswered)) : null;
  const isShort = end === null && lastAnswered < nearest && nearest !== Infinity;
  const gapEnd = isShort ? nearest : lastAnswered + GAP_LIMIT;
  const horizon = end ?? Math.min(maxHops, gapEnd, loop?.provedAt ?? maxHops);
  const mayScout = isStalled && end === null && loop === null && (reached || !isShort);
  const atEnd = countedAtEnd(beyond, reached ? 'target' : 'refused', queries);
  const doubtful = end !== null && reached ? doubtfulHops(own, end, nearest, queries, doubt) : [];
  return {
    end,
    reached,
    loop,
    lastAnswered,
    horizon,
    sentAt,
    scoutsTo: mayScout ? maxHops : horizon,
    wantedAt: (ttl) => (doubtful.includes(ttl) ? queries + DOUBT_QUERIES : queries),
    atEnd,
    hopOf: (packet) => {
      // Packets with a higher TTL that reached the same end substitute for packets not sent there, answered or not.
      if (end !== null && packet.ttl >= end) return atEnd.includes(packet) ? end : null;
      return packet.ttl <= horizon ? packet.ttl : null;
    },
  };
}

/**
 * The packets that count at the end: `queries` or more, up to the first answer of `kind`, and all of the rounds, which
 * send none beyond.
 */
function countedAtEnd(
  beyond: readonly TracePacket[],
  kind: 'target' | 'refused',
  queries: number,
): readonly TracePacket[] {
  const first = beyond.filter(({ round }) => round === undefined);
  const count = Math.max(queries, first.findIndex(({ answer }) => answer?.kind === kind) + 1);
  return [...first.slice(0, count), ...beyond.filter(({ round }) => round !== undefined)];
}

export interface Wanted {
  readonly flow: number;
  readonly ttl: number;
}

/** The next packet to send: every hop once before any hop twice; null when none is wanted now. */
export function nextPacket(views: readonly FlowView[]): Wanted | null {
  let best: (Wanted & { readonly sent: number }) | null = null;
  for (const [flow, { horizon, scoutsTo, sentAt, wantedAt }] of views.entries()) {
    for (let ttl = 1; ttl <= scoutsTo; ttl += 1) {
      const sent = sentAt[ttl]!;
      const wanted = ttl <= horizon ? wantedAt(ttl) : 1;
      if (sent < Math.min(wanted, best?.sent ?? wanted)) best = { flow, ttl, sent };
    }
  }
  return best;
}

/**
 * Packets still awaited whose answers matter: before the end of their flow, or counted at it; without an end, up to
 * `scoutsTo`, or with the full TTL.
 */
export function awaitedOf(packets: readonly TracePacket[], views: readonly FlowView[]): TracePacket[] {
  return packets.filter((packet) => {
    if (!isAwaited(packet)) return false;
    const { end, scoutsTo, atEnd } = views[packet.flow]!;
    if (end !== null) return packet.ttl < end || atEnd.includes(packet);
    return isFull(packet) || packet.ttl <= scoutsTo;
  });
}
