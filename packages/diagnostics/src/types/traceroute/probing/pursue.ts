import type { Failure } from '@vantage/contract';

import { readFirstTimer } from '../../../shared/read-first-timer.ts';
import { awakeClock } from '../../../sockets/awake-clock.ts';
import type { FlowLabel, PacketProtocol, PacketSocket, ReceivedPacket } from '../../../sockets/packet-socket.ts';
import { unsentFailure } from '../../../sockets/unsent.ts';
import { demoteFilters, kindOf } from './answer-kind.ts';
import { LENGTHS, type FlowAnswer, type TraceFlow } from './flow.ts';
import { awaitedOf, nextPacket, viewFlows, type FlowView, type Wanted } from './flow-view.ts';
import { FULL_TTL } from '../result-fields.ts';
import { isFull, type TracePacket } from './trace.ts';
import { waitMs } from './waits.ts';

export interface PursuitFlow {
  readonly socket: PacketSocket;
  readonly flow: TraceFlow;
  /** Of an IPv6 flow: routers may balance by it (RFC 6438). */
  readonly label?: FlowLabel | undefined;
}

export interface PursuitPlan {
  readonly flows: readonly PursuitFlow[];
  readonly destination: string;
  readonly protocol: PacketProtocol;
  readonly maxHops: number;
  readonly queries: number;
  readonly maxPackets: number;
  /** Time for everything, milliseconds. */
  readonly budgetMs: number;
}

export interface Trace {
  readonly packets: TracePacket[];
  views: readonly FlowView[];
  /** Why the probe itself could not go on; null otherwise. */
  failure: Failure | null;
  /** True where time ran out or the probe was interrupted while more was wanted. */
  isCut: boolean;
}

/** Packets that may be under way at once; one that is out for longer than `STALL_MS` makes room for another. */
const WINDOW = 16;
/** Packets sent back to back, and the time until the next may follow: a burst would meet the routers' ICMP limits. */
const BURST = 8;
const BURST_EVERY_MS = 1;
/** Silence after which the target is asked with the full TTL, and each further hop once. */
const STALL_MS = 500;
/**
 * Time from one packet with the full TTL to the next of its flow. Many targets answer one such packet a second, to all that
 * ask: as many traces as there are packets get their answer. The last ones leave while the first are awaited.
 */
const FULL_GAPS_MS = [1_000, 2_000, 1_000, 1_000, 1_000] as const;
/** Packets with the full TTL, of each flow that needs them. */
export const FULL_QUERIES = FULL_GAPS_MS.length + 1;

/**
 * Sends packets with growing TTLs, a window of them at a time, until the path is known to the target, to its end, to a
 * loop, or to a run of silent hops. Where nothing more answers, the target is asked with the full TTL, more than once
 * while it is silent, and each hop up to the limit once. The hops of a silent network are awaited at once.
 *
 * @param onChange called after each answer and each packet given up
 */
export function pursue(plan: PursuitPlan, signal: AbortSignal, onChange: (trace: Trace) => void): Promise<Trace> {
  return new Promise((resolve) => {
    const { flows } = plan;
    const packets: TracePacket[] = [];
    const stalled = new Set<number>();
    const look = (): readonly FlowView[] => viewFlows(packets, flows.length, plan, stalled);
    const trace: Trace = { packets, views: look(), failure: null, isCut: false };
    const endsAtMs = performance.now() + plan.budgetMs;
    const clock = awakeClock();
    let progressMs = clock.now();
    let stopTimer = (): void => undefined;
    let isOver = false;

    const finish = (isCut: boolean): void => {
      if (isOver) return;
      isOver = true;
      trace.isCut = isCut;
      stopTimer();
      clock.stop();
      signal.removeEventListener('abort', abort);
      for (const packet of packets) packet.isGivenUp ||= packet.answer === null;
      trace.views = look();
      resolve(trace);
    };
    const abort = (): void => finish(true);
    const fail = (failure: Failure): void => {
      // What is lost after the end was not needed.
      if (isOver) return;
      trace.failure = failure;
      finish(true);
    };
    const send = ({ flow, ttl }: Wanted): void => {
      const index = packets.reduce((count, packet) => count + (packet.flow === flow ? 1 : 0), 0);
      progressMs = clock.now();
      const packet: TracePacket = {
        flow,
        index,
        ttl,
        awaitedMs: progressMs,
        sentMs: null,
        answer: null,
        isGivenUp: false,
      };
      packets.push(packet);
      const { socket, flow: builder, label } = flows[flow]!;
      socket.send(builder.packet(index), plan.destination, ttl, label).then(
        (sentMs) => {
          packet.sentMs = sentMs;
          // What the packet process had to do before is no silence of a router.
          packet.awaitedMs = clock.now();
          if (packet.answer !== null && !isOver) onChange(trace);
        },
        (error: unknown) => {
          // One that the kernel refuses after others were answered is lost; before that nothing will ever be answered.
          packet.isGivenUp = true;
          if (packets.every(({ answer }) => answer === null)) fail(unsentFailure(error));
        },
      );
    };
    const step = (isDue: boolean): void => {
      if (isOver) return;
      stopTimer();
      // More answers than the one that came may wait to be read: only a timer, which reads first, calls anyone silent.
      if (isDue && giveUpSilent(trace, clock.now())) onChange(trace);
      trace.views = look();
      if (isDue || awaitedOf(packets, trace.views).length === 0) noteStall();
      let burst = 0;
      let wanted = nextOf(trace, stalled, plan, clock.now());
      while (wanted !== null && burst < BURST && underWay().length < WINDOW) {
        send(wanted);
        burst += 1;
        trace.views = look();
        wanted = nextOf(trace, stalled, plan, clock.now());
      }
      const awaited = awaitedOf(packets, trace.views);
      const leftMs = endsAtMs - performance.now();
      if (wanted === null && awaited.length === 0 && !isStallDue() && questionAt() === Infinity) return finish(false);
      if (isDue && leftMs <= 0) return finish(true);
      stopTimer = readFirstTimer(() => step(true), Math.max(1, Math.ceil(Math.min(leftMs, restMs(wanted, awaited)))));
    };
    const underWay = (): TracePacket[] =>
      awaitedOf(packets, trace.views).filter(({ awaitedMs }) => clock.now() - awaitedMs < STALL_MS);
    const openFlows = (): number[] =>
      [...trace.views.entries()].flatMap(([flow, { end }]) => (end === null && !stalled.has(flow) ? [flow] : []));
    const isStallDue = (): boolean => openFlows().length > 0;
    const noteStall = (): void => {
      if (nextOf(trace, stalled, plan, clock.now()) !== null) return;
      const isIdle = awaitedOf(packets, trace.views).length === 0;
      if (!isIdle && clock.now() - progressMs < STALL_MS) return;
      for (const flow of openFlows()) stalled.add(flow);
      trace.views = look();
    };
    const questionAt = (): number => {
      const times = trace.views.map((_, flow) => (stalled.has(flow) ? fullDueMs(trace, flow) : Infinity));
      return packets.length < plan.maxPackets ? Math.min(...times) : Infinity;
    };
    /** Until there may be something to do without an answer. */
    const restMs = (wanted: Wanted | null, awaited: readonly TracePacket[]): number => {
      const now = clock.now();
      const outFor = underWay().map(({ awaitedMs }) => awaitedMs + STALL_MS - now);
      if (wanted !== null) return outFor.length < WINDOW ? BURST_EVERY_MS : Math.min(...outFor);
      const silentIn = awaited.map((packet) => packet.awaitedMs + waitMs(packet, packets, trace.views) - now);
      return Math.min(...silentIn, questionAt() - now, ...(isStallDue() ? [progressMs + STALL_MS - now] : []));
    };
    const receive = (flow: number, received: ReceivedPacket): void => {
      if (isOver) return;
      const match = flows[flow]!.flow.match(received);
      if (match === undefined) return;
      const { error } = match;
      const packet = answered(packets, flow, match);
      if (packet === undefined || packet.answer !== null) return;
      const { from, receivedMs, clock: by } = received;
      packet.answer = { from, receivedMs, clock: by, error, kind: kindOf(error, from, plan, packets) };
      if (packet.answer.kind === 'expired') demoteFilters(from, plan.destination, packets);
      progressMs = clock.now();
      onChange(trace);
      step(false);
    };

    for (const [flow, { socket }] of flows.entries()) {
      socket.onPacket((received) => receive(flow, received));
      socket.onLost((error) => {
        const message = `The packet process ended during the check. ${error.message}`;
        fail({ code: 'probe_interrupted', phase: 'exec', source: 'probe', message });
      });
    }
    if (signal.aborted) return finish(true);
    signal.addEventListener('abort', abort);
    return step(false);
  });
}

/** Full TTLs go first: their answers say whether it is worth while to look further. One of each flow has its room. */
function nextOf(trace: Trace, stalled: ReadonlySet<number>, plan: PursuitPlan, nowMs: number): Wanted | null {
  const { packets, views } = trace;
  const isOpen = (flow: number): boolean => views[flow]!.end === null;
  const fullSent = (flow: number): number => packets.filter((one) => one.flow === flow && isFull(one)).length;
  const flows = views.map((_, flow) => flow).filter(isOpen);
  const room = plan.maxPackets - packets.length;
  const reserved = flows.filter((flow) => fullSent(flow) === 0).length;
  const due = flows.find((flow) => stalled.has(flow) && fullDueMs(trace, flow) <= nowMs);
  if (due !== undefined && room > 0) return { flow: due, ttl: FULL_TTL };
  return room > reserved ? nextPacket(views) : null;
}

/**
 * When the target is to be asked with the full TTL: at once, and again while nothing comes back, since a target or a router
 * may limit its errors, and other packets may have used up what it allows. Infinity where it is not to be asked.
 */
function fullDueMs({ packets, views }: Trace, flow: number): number {
  const sent = packets.filter((one) => one.flow === flow && isFull(one));
  const isAnswered = sent.some(({ answer }) => answer !== null && answer.kind !== 'refused');
  if (views[flow]!.end !== null || isAnswered || sent.length >= FULL_QUERIES) return Infinity;
  const last = sent.at(-1);
  return last === undefined ? -Infinity : last.awaitedMs + FULL_GAPS_MS[sent.length - 1]!;
}

function giveUpSilent({ packets, views }: Trace, nowMs: number): boolean {
  const silent = awaitedOf(packets, views).filter(
    (packet) => nowMs - packet.awaitedMs >= waitMs(packet, packets, views),
  );
  for (const packet of silent) packet.isGivenUp = true;
  return silent.length > 0;
}

function answered(
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
 * The packet that an answer without a number is for: the last with the full TTL, sent after a silence, else the first
 * unanswered one beyond every router that answered.
 */
function likeliest(packets: readonly TracePacket[], flow: number): TracePacket | undefined {
  const own = packets.filter((packet) => packet.flow === flow);
  const expired = own.filter((packet) => packet.answer?.kind === 'expired' && !isFull(packet));
  const lastRouter = Math.max(0, ...expired.map(({ ttl }) => ttl));
  const open = own.filter(({ answer, ttl }) => answer === null && ttl > lastRouter);
  return open.findLast(isFull) ?? open.toSorted((a, b) => a.ttl - b.ttl || a.index - b.index)[0];
}
