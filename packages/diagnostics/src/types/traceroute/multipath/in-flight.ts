import type { ProbeClock } from '../../../sockets/clock/probe-clock.ts';
import { SILENT_AFTER_MS, type ProbeLoopFlow, type ProbeLoopPlan } from '../probing/plan.ts';
import { isAwaited, refuse, type TracePacket } from '../probing/trace.ts';
import { patienceMs } from '../probing/waits.ts';
import type { Ask } from './survey.ts';

export interface SearchPlan extends ProbeLoopPlan {
  /** The flow of the preceding trace; further ones are added. */
  readonly flows: ProbeLoopFlow[];
  /** Opens further flows; returns none if that fails. */
  readonly open: (count: number) => Promise<readonly ProbeLoopFlow[]>;
}

/** Sends a packet and adds it to those of the trace. */
export function sendAsk(
  { flow, ttl }: Ask,
  packets: TracePacket[],
  { flows, destination }: SearchPlan,
  clock: ProbeClock,
  onSent: (packet: TracePacket) => void,
): void {
  const index = packets.reduce((count, packet) => count + (packet.flow === flow ? 1 : 0), 0);
  const awaitedMs = clock.now();
  const packet: TracePacket = { flow, index, ttl, awaitedMs, sentMs: null, answer: null, isGivenUp: false };
  packets.push(packet);
  const { socket, flow: builder, header } = flows[flow]!;
  clock.owed(socket.send(builder.packet(index), destination, ttl, header)).then(
    (sentMs) => {
      packet.sentMs = sentMs;
      packet.isDoubtful = false;
      packet.awaitedMs = clock.now();
      onSent(packet);
    },
    (error: unknown) => refuse(packet, error),
  );
}

export function awaitedIn(packets: readonly TracePacket[]): TracePacket[] {
  return packets.filter(isAwaited);
}

/** Milliseconds until an unanswered packet is given up. */
export function silentInMs(packet: TracePacket, packets: readonly TracePacket[], nowMs: number): number {
  return packet.awaitedMs + patienceMs(packet, packets, nowMs) - nowMs;
}

/** Unanswered packets that are to be given up. */
export function silentIn(packets: readonly TracePacket[], nowMs: number): readonly TracePacket[] {
  return awaitedIn(packets).filter((packet) => silentInMs(packet, packets, nowMs) <= 0);
}

/** Number of packets that occupy the window: they have been awaited for less than `SILENT_AFTER_MS`. */
export function countInFlight(packets: readonly TracePacket[], nowMs: number): number {
  return awaitedIn(packets).filter(({ awaitedMs }) => nowMs - awaitedMs < SILENT_AFTER_MS).length;
}
