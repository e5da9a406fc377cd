import type { Clock } from '../sockets/packet-socket.ts';
import type { IcmpError } from '../sockets/wire/icmp.ts';
import { findLoop, type Loop } from './loop.ts';

/**
 * One packet of the trace. Its answer is awaited since `awaitedMs`, by the awake clock of the agent; `sentMs` and
 * `receivedMs` are by the packet process's clock.
 */
export interface TracePacket {
  readonly flow: number;
  /** Number within its flow. */
  readonly index: number;
  readonly ttl: number;
  awaitedMs: number;
  sentMs: number | null;
  answer: TraceAnswer | null;
  /** True once no answer is awaited any more; one may still come. */
  isGivenUp: boolean;
}

export interface TraceAnswer {
  readonly from: string;
  readonly receivedMs: number;
  readonly clock: Clock;
  /** expired: a router on the way; target: the end; refused: an ICMP error that ends the path. */
  readonly kind: 'expired' | 'target' | 'refused';
  readonly error: IcmpError | null;
}

export interface TraceLimits {
  readonly maxHops: number;
  readonly queries: number;
}

/** Silent hops after the last answer, after which nothing more is expected. */
export const GAP_LIMIT = 5;

/** What is known of one flow's path. */
export interface FlowView {
  /** The hop at which the path ended: the lowest TTL to which the target answered or a router refused. */
  readonly end: number | null;
  /** Whether it was the target that answered at the end. */
  readonly reached: boolean;
  /** Highest TTL that was answered; 0 without any. */
  readonly lastAnswered: number;
  readonly loop: Loop | null;
  /** Highest TTL that is worth sending by what is known now. */
  readonly horizon: number;
  /** True once the end has given all the answers that were asked for. */
  readonly isComplete: boolean;
  /** Packets sent by TTL. At the end those with higher TTLs count too, which reached it as well. */
  readonly sentAt: readonly number[];
}

export function viewFlow(packets: readonly TracePacket[], flow: number, limits: TraceLimits): FlowView {
  const { maxHops, queries } = limits;
  const sentAt = Array.from({ length: maxHops + 1 }, () => 0);
  const path: (string | null)[] = Array.from({ length: maxHops }, () => null);
  let end: number | null = null;
  let [lastAnswered, answersAtEnd] = [0, 0];
  const own = packets.filter((packet) => packet.flow === flow);
  for (const { ttl, answer } of own) {
    sentAt[ttl]! += 1;
    if (answer === null) continue;
    lastAnswered = Math.max(lastAnswered, ttl);
    if (answer.kind === 'expired') path[ttl - 1] ??= answer.from;
    else end = Math.min(end ?? ttl, ttl);
  }
  for (const { ttl, answer, isGivenUp } of own) {
    if (end === null || ttl < end) continue;
    answersAtEnd += answer === null ? 0 : 1;
    if (ttl > end && (answer !== null || !isGivenUp)) sentAt[end]! += 1;
  }
  const loop = end === null ? findLoop(path.slice(0, lastAnswered)) : null;
  const horizon = end ?? Math.min(maxHops, lastAnswered + GAP_LIMIT, loop?.provedAt ?? maxHops);
  const reached = own.some(({ answer }) => answer?.kind === 'target');
  return { end, reached, lastAnswered, loop, horizon, sentAt, isComplete: answersAtEnd >= queries };
}

/** The next packet to send: every hop once before any hop twice; null when none is wanted now. */
export function nextPacket(
  views: readonly FlowView[],
  queries: number,
): { readonly flow: number; readonly ttl: number } | null {
  let best: { flow: number; ttl: number; sent: number } | null = null;
  for (const [flow, { horizon, sentAt }] of views.entries()) {
    for (let ttl = 1; ttl <= horizon; ttl += 1) {
      const sent = sentAt[ttl]!;
      if (sent < Math.min(queries, best?.sent ?? queries)) best = { flow, ttl, sent };
    }
  }
  return best;
}

/** Round-trip time in milliseconds; null while or because there is none. */
export function rttOf({ sentMs, answer }: TracePacket): number | null {
  return sentMs === null || answer === null ? null : Math.max(0, answer.receivedMs - sentMs);
}
