import { findLoop, type Loop } from './loop.ts';
import { distanceOf, isFull, type TracePacket } from './trace.ts';

export interface TraceLimits {
  readonly maxHops: number;
  readonly queries: number;
}

/** Silent hops after the last answer that are asked as often as all others. */
export const GAP_LIMIT = 5;

/** Packets that ask once more for a silent hop before the target, if packets are lost: it may be the target's own. */
const DOUBT_QUERIES = 3;

/** What is known of one flow's path. */
export interface FlowView {
  /** The hop at which the path ended: the target's, or the lowest TTL that a router refused. */
  readonly end: number | null;
  /** Whether the target answered any packet; without `end` its distance is not known. */
  readonly reached: boolean;
  readonly loop: Loop | null;
  /** Highest TTL that was answered; 0 without any. */
  readonly lastAnswered: number;
  /** Highest TTL that is worth sending by what is known now. */
  readonly horizon: number;
  /** Highest TTL that is to be asked once: the horizon, or more where all that was asked is silent. */
  readonly scoutsTo: number;
  /** Packets sent by TTL. At the end those with higher TTLs count too, which reached it as well. */
  readonly sentAt: readonly number[];
  /** Packets that are wanted by TTL, up to the horizon. */
  readonly wantedAt: (ttl: number) => number;
  /** The packets that count at the end: the first that went so far, answered or not, up to one that was answered. */
  readonly atEnd: readonly TracePacket[];
}

/**
 * What is known of all flows. Where one flow has reached the target, another one that hears nothing from there on
 * does not look beyond it: many a host answers only some packets.
 *
 * @param stalled flows of which nothing was heard for a while
 */
export function viewFlows(
  packets: readonly TracePacket[],
  count: number,
  limits: TraceLimits,
  stalled: ReadonlySet<number>,
): readonly FlowView[] {
  const byFlow: TracePacket[][] = Array.from({ length: count }, () => []);
  for (const packet of packets) byFlow[packet.flow]!.push(packet);
  const ends = byFlow.map((own) => endOf(own, limits));
  const nearest = Math.min(...ends.map(({ end, reached }) => (reached ? (end ?? Infinity) : Infinity)));
  return byFlow.map((own, flow) => viewFlow(own, ends[flow]!, nearest, limits, stalled.has(flow)));
}

interface End {
  readonly end: number | null;
  readonly reached: boolean;
}

function endOf(own: readonly TracePacket[], { maxHops }: TraceLimits): End {
  const limited = own.filter((packet) => !isFull(packet));
  const lastExpired = Math.max(0, ...limited.filter(({ answer }) => answer?.kind === 'expired').map(({ ttl }) => ttl));
  const reached = own.some(({ answer }) => answer?.kind === 'target');
  const distances = own.flatMap((packet) => distanceOf(packet, lastExpired, maxHops) ?? []);
  // A router that refuses some packets and passes others on does not end the path.
  const refused = limited.filter(({ ttl, answer }) => answer?.kind === 'refused' && ttl > lastExpired);
  const ends = reached ? distances : refused.map(({ ttl }) => ttl);
  return { end: ends.length === 0 ? null : Math.min(...ends), reached };
}

function viewFlow(
  own: readonly TracePacket[],
  { end, reached }: End,
  nearest: number,
  { maxHops, queries }: TraceLimits,
  isStalled: boolean,
): FlowView {
  const sentAt = Array.from({ length: maxHops + 1 }, () => 0);
  const path: (string | null)[] = Array.from({ length: maxHops }, () => null);
  let lastAnswered = 0;
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
  const doubtful = end !== null && reached && isDoubtful(own, end) ? end - 1 : 0;
  return {
    ...{ end, reached, loop, lastAnswered, horizon, sentAt },
    scoutsTo: mayScout ? maxHops : horizon,
    wantedAt: (ttl) => (ttl === doubtful ? queries + DOUBT_QUERIES : queries),
    atEnd: beyond.slice(0, Math.max(queries, beyond.findIndex(({ answer }) => answer !== null) + 1)),
  };
}

/** Whether the hop before the end is silent on a path that loses packets, so that the target may be there already. */
function isDoubtful(own: readonly TracePacket[], end: number): boolean {
  const isAnswered = (ttl: number): boolean => own.some((one) => one.ttl === ttl && one.answer !== null);
  const isLost = ({ ttl, answer, isGivenUp }: TracePacket): boolean =>
    answer === null && isGivenUp && (ttl >= end || isAnswered(ttl));
  return end > 1 && !isAnswered(end - 1) && own.some(isLost);
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

/** Packets that are still awaited and whose answers would tell something. */
export function awaitedOf(packets: readonly TracePacket[], views: readonly FlowView[]): TracePacket[] {
  return packets.filter((packet) => {
    if (packet.answer !== null || packet.isGivenUp) return false;
    const { end, scoutsTo, atEnd } = views[packet.flow]!;
    if (end !== null) return packet.ttl < end || atEnd.includes(packet);
    return isFull(packet) || packet.ttl <= scoutsTo;
  });
}
