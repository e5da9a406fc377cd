import type { Failure } from '@vantage/contract';

import { FULL_TTL } from '../result-fields.ts';
import { LENGTHS, type FlowAnswer } from './flow.ts';
import { awaitedOf, nextPacket, type FlowView, type Wanted } from './flow-view.ts';
import { isFull, type TracePacket } from './trace.ts';
import { BURST_EVERY_MS, SILENT_AFTER_MS } from './plan.ts';
import { waitMs } from './waits.ts';

export interface Trace {
  readonly packets: TracePacket[];
  views: readonly FlowView[];
  /** Why the probe itself could not continue; otherwise null. */
  failure: Failure | null;
  /** True if time, or the packets of the search for all paths, ran out too early, or the probe was interrupted. */
  isCut: boolean;
  /**
   * True if time or packets for the search of all paths ran out, although all wanted packets to the target itself were
   * sent.
   */
  isIncomplete?: boolean;
  /** Rounds whose packets were sent, the trace included; absent if no rounds were requested. */
  rounds?: number;
  /** True if rounds were not sent in time because the probe stalled. */
  isLate?: boolean;
  /**
   * Number of rounds that do not count because the probe was stalled: it did not send them in time, or left out packets
   * of them.
   */
  roundsLeftOut?: number;
  /** Time for which the packet process stalled, in stalls of a second or more, milliseconds. */
  stalledMs?: number;
  /** True if rounds were not sent because no client follows the check any more. */
  isAbandoned?: boolean;
}

/**
 * Intervals between packets of a flow with the full TTL: many targets answer about one such packet per second in total.
 * The last packets are sent while answers to the first are awaited.
 */
const FULL_GAPS_MS = [1_000, 2_000, 1_000, 1_000, 1_000] as const;
/** Maximum number of packets with the full TTL per flow before the search for all paths. */
export const FULL_QUERIES = FULL_GAPS_MS.length + 1;

/**
 * The next packet to send. Packets with the full TTL come first, because their answers decide whether further hops are
 * worth probing; one is reserved for each flow that has neither sent one nor found an end.
 */
export function nextOf(trace: Trace, stalled: ReadonlySet<number>, maxPackets: number, nowMs: number): Wanted | null {
  const { packets, views } = trace;
  const asked = new Set<number>();
  for (const packet of packets) if (isFullOf(packet, packet.flow)) asked.add(packet.flow);
  const flows = [...views.keys()].filter((flow) => views[flow]!.end === null);
  const room = maxPackets - packets.length;
  const reserved = flows.filter((flow) => !asked.has(flow)).length;
  const due = flows.find((flow) => stalled.has(flow) && fullDueMs(trace, flow) <= nowMs);
  if (due !== undefined && room > 0) return { flow: due, ttl: FULL_TTL };
  return room > reserved ? nextPacket(views) : null;
}

/**
 * When to probe the target with the full TTL: at once, and repeatedly while refusals alone answer or nothing does,
 * because a target or router may rate-limit its ICMP errors, and other packets may have used up the limit. Infinity if
 * it is not to be probed.
 */
export function fullDueMs({ packets, views }: Trace, flow: number): number {
  const sent = packets.filter((one) => isFullOf(one, flow));
  const isAnswered = sent.some(({ answer }) => answer !== null && answer.kind !== 'refused');
  if (views[flow]!.end !== null || isAnswered || sent.length >= FULL_QUERIES) return Infinity;
  const last = sent.at(-1);
  return last === undefined ? -Infinity : last.awaitedMs + FULL_GAPS_MS[sent.length - 1]!;
}

function isFullOf(packet: TracePacket, flow: number): boolean {
  return packet.flow === flow && isFull(packet) && packet.isLeftOut !== true;
}

/** Unanswered packets that are to be given up. */
export function silentOf({ packets, views }: Trace, nowMs: number): readonly TracePacket[] {
  return awaitedOf(packets, views).filter((packet) => nowMs - packet.awaitedMs >= waitMs(packet, packets, views));
}

/** Packets in flight for less than `SILENT_AFTER_MS`. */
export function inFlight({ packets, views }: Trace, nowMs: number): readonly TracePacket[] {
  return awaitedOf(packets, views).filter(({ awaitedMs }) => nowMs - awaitedMs < SILENT_AFTER_MS);
}

/** Flows without an end that have not stalled. */
export function openFlows({ views }: Trace, stalled: ReadonlySet<number>): readonly number[] {
  return [...views.entries()].flatMap(([flow, { end }]) => (end === null && !stalled.has(flow) ? [flow] : []));
}

/** When the next full-TTL packet of a stalled flow is due, by the clock of `awaitedMs`; Infinity if there is none. */
export function questionAt(trace: Trace, stalled: ReadonlySet<number>, maxPackets: number): number {
  if (trace.packets.length >= maxPackets) return Infinity;
  return Math.min(...trace.views.map((_, flow) => (stalled.has(flow) ? fullDueMs(trace, flow) : Infinity)));
}

/** State of the probe loop that the trace itself does not have. */
export interface LoopState {
  /**
   * Flows that once had no end when the loop had made no progress for `SILENT_AFTER_MS` and had nothing else to send;
   * only these get full-TTL packets. Never removed.
   */
  readonly stalled: Set<number>;
  /** When a packet was last sent or answered. */
  progressMs: number;
  readonly window: number;
  readonly maxPackets: number;
}

/** Time until the next step that is due even without an answer. */
export function restMs(
  trace: Trace,
  wanted: Wanted | null,
  { stalled, progressMs, window, maxPackets }: LoopState,
  nowMs: number,
): number {
  const outFor = inFlight(trace, nowMs).map(({ awaitedMs }) => awaitedMs + SILENT_AFTER_MS - nowMs);
  if (wanted !== null) return outFor.length < window ? BURST_EVERY_MS : Math.min(...outFor);
  const { packets, views } = trace;
  const silentIn = awaitedOf(packets, views).map((packet) => packet.awaitedMs + waitMs(packet, packets, views) - nowMs);
  const stallIn = openFlows(trace, stalled).length > 0 ? [progressMs + SILENT_AFTER_MS - nowMs] : [];
  return Math.min(...silentIn, questionAt(trace, stalled, maxPackets) - nowMs, ...stallIn);
}

/** The packet that an answer is for; undefined if it is for none. */
export function answered(
  packets: readonly TracePacket[],
  flow: number,
  { index, remainder }: FlowAnswer,
): TracePacket | undefined {
  if (index === null && remainder === undefined) return likeliest(packets, flow);
  const own = packets.filter((one) => one.flow === flow);
  const numbered = index === null ? undefined : own[index];
  if (numbered !== undefined || remainder === undefined) return numbered;
  return own.findLast((one) => one.answer === null && one.index % LENGTHS === remainder);
}

/**
 * The packet that an answer without a number is for: the last unanswered one with the full TTL, sent after a silence,
 * else the first unanswered one beyond every router that answered.
 */
function likeliest(packets: readonly TracePacket[], flow: number): TracePacket | undefined {
  const own = packets.filter((packet) => packet.flow === flow);
  const expired = own.filter((packet) => packet.answer?.kind === 'expired' && !isFull(packet));
  const lastRouter = Math.max(0, ...expired.map(({ ttl }) => ttl));
  const open = own.filter(({ answer, ttl }) => answer === null && ttl > lastRouter);
  return open.findLast(isFull) ?? open.toSorted((a, b) => a.ttl - b.ttl || a.index - b.index)[0];
}
