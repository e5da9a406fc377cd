import type { FlowView } from './flow-view.ts';
import { isFull, rttOf, type TracePacket } from './trace.ts';

/** Longest wait for an answer, equal to that of ping. */
export const MAX_WAIT_MS = 4_000;
/** Wait for a silent hop although hops beyond it answered: many routers answer late. */
const SILENT_HOP_MS = 2_000;
/** Wait for the answer of a hop that answered other packets. */
const KNOWN_HOP_MS = 1_000;
const WAIT_RTTS = 3;
/** Wait for all answers at the full TTL of a flow, from the first such packet on. */
const FULL_WAIT_MS = 7_000;

/** Milliseconds for which the answer to a packet is awaited. */
export function waitMs(packet: TracePacket, packets: readonly TracePacket[], views: readonly FlowView[]): number {
  const { end, lastAnswered } = views[packet.flow]!;
  const isAtEnd = end !== null && packet.ttl >= end;
  const isBeyond = (end === null && (isFull(packet) || packet.ttl > lastAnswered)) || packet.sentMs === null;
  if (isBeyond && !views.some(({ reached }) => reached)) return Math.min(MAX_WAIT_MS, fullWaitMs(packet, packets));
  const isHere = ({ ttl, answer }: TracePacket): boolean =>
    isAtEnd ? answer !== null && answer.kind !== 'expired' : ttl === packet.ttl;
  const here = slowest(packets.filter(isHere));
  if (here > 0) return bounded(WAIT_RTTS * here, KNOWN_HOP_MS);
  return bounded(WAIT_RTTS * slowest(packets.filter(({ ttl }) => ttl > packet.ttl)), SILENT_HOP_MS);
}

/**
 * Milliseconds for which the answer to a packet is awaited while some flows have not ended: derived from answers to
 * other packets, `MAX_WAIT_MS` without any.
 */
export function patienceMs(packet: TracePacket, packets: readonly TracePacket[]): number {
  const { ttl } = packet;
  if (isFull(packet)) return bounded(WAIT_RTTS * slowest(packets), KNOWN_HOP_MS);
  const here = slowest(packets.filter((one) => one.ttl === ttl));
  if (here > 0) return bounded(WAIT_RTTS * here, KNOWN_HOP_MS);
  const beyond = slowest(packets.filter((one) => one.ttl > ttl));
  return beyond > 0 ? bounded(WAIT_RTTS * beyond, SILENT_HOP_MS) : MAX_WAIT_MS;
}

function fullWaitMs(packet: TracePacket, packets: readonly TracePacket[]): number {
  if (!isFull(packet)) return Infinity;
  const first = packets.find((one) => isFull(one) && one.flow === packet.flow)!;
  return first.awaitedMs + FULL_WAIT_MS - packet.awaitedMs;
}

function slowest(packets: readonly TracePacket[]): number {
  return Math.max(0, ...packets.flatMap((packet) => rttOf(packet) ?? []));
}

function bounded(milliseconds: number, least: number): number {
  return Math.min(MAX_WAIT_MS, Math.max(least, milliseconds));
}
