import type { FlowView } from './flow-view.ts';
import { isFull, rttOf, type TracePacket } from './trace.ts';

/** Longest wait for an answer, equal to that of ping. */
export const MAX_WAIT_MS = 4_000;
/** Minimum wait for a silent hop although hops beyond it answered: many routers answer late. */
const SILENT_HOP_MS = 2_000;
/**
 * Minimum wait for the answer of a hop that answered other packets, and in a search the wait at the full TTL while the
 * target is silent.
 */
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
  const here = slowest(packets, isHere);
  if (here > 0) return bounded(WAIT_RTTS * here, KNOWN_HOP_MS);
  return bounded(WAIT_RTTS * slowest(packets, ({ ttl }) => ttl > packet.ttl), SILENT_HOP_MS);
}

/**
 * Milliseconds for which the search for all paths awaits the answer to a packet: derived from answers to other packets.
 * Without any, `MAX_WAIT_MS`, or less once a packet to this hop or a nearer one was awaited for `MAX_WAIT_MS` in vain;
 * for a packet with the full TTL, a second until the target has answered.
 *
 * @param nowMs by the clock of `awaitedMs`
 */
export function patienceMs(packet: TracePacket, packets: readonly TracePacket[], nowMs: number): number {
  const { ttl } = packet;
  // While the target is silent, these packets are a second apart, and the last ones are awaited together.
  if (isFull(packet)) return packets.some(isArrived) ? shortestMs(packets) : KNOWN_HOP_MS;
  const here = slowest(packets, (one) => one.ttl === ttl);
  if (here > 0) return bounded(WAIT_RTTS * here, KNOWN_HOP_MS);
  const beyond = slowest(packets, (one) => one.ttl > ttl);
  if (beyond > 0) return bounded(WAIT_RTTS * beyond, SILENT_HOP_MS);
  const isSilent = (one: TracePacket): boolean => one.answer === null && nowMs - one.awaitedMs >= MAX_WAIT_MS;
  return packets.some((one) => one.ttl <= ttl && isSilent(one)) ? shortestMs(packets) : MAX_WAIT_MS;
}

/**
 * Milliseconds until every packet that was given up, and whose TTL is above the last answered one, was awaited for
 * `MAX_WAIT_MS`; 0 if all were. Answers to packets with the full TTL do not count as the last answered one.
 */
export function silenceRestMs(packets: readonly TracePacket[], nowMs: number): number {
  const last = Math.max(0, ...packets.flatMap((one) => (one.answer === null || isFull(one) ? [] : [one.ttl])));
  const silent = packets.filter((one) => one.isGivenUp && one.answer === null && one.ttl > last);
  return Math.max(0, ...silent.map(({ awaitedMs }) => awaitedMs + MAX_WAIT_MS - nowMs));
}

/** Milliseconds that packets with the full TTL take if none is answered. */
export function fullTtlMs(count: number): number {
  return count * KNOWN_HOP_MS + MAX_WAIT_MS;
}

function isArrived({ answer }: TracePacket): boolean {
  return answer?.kind === 'target';
}

function shortestMs(packets: readonly TracePacket[]): number {
  return bounded(WAIT_RTTS * slowest(packets), KNOWN_HOP_MS);
}

function fullWaitMs(packet: TracePacket, packets: readonly TracePacket[]): number {
  if (!isFull(packet)) return Infinity;
  const first = packets.find((one) => isFull(one) && one.flow === packet.flow)!;
  return first.awaitedMs + FULL_WAIT_MS - packet.awaitedMs;
}

function slowest(packets: readonly TracePacket[], counts = (_packet: TracePacket): boolean => true): number {
  let longest = 0;
  for (const packet of packets) {
    const rtt = rttOf(packet);
    if (rtt !== null && rtt > longest && counts(packet)) longest = rtt;
  }
  return longest;
}

function bounded(milliseconds: number, least: number): number {
  return Math.min(MAX_WAIT_MS, Math.max(least, milliseconds));
}
