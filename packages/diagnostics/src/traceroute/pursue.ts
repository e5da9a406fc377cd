import type { Failure } from '@vantage/contract';

import { classifyError } from '../classify.ts';
import { readFirstTimer } from '../read-first-timer.ts';
import { awakeClock } from '../sockets/awake-clock.ts';
import type { PacketSocket, ReceivedPacket } from '../sockets/packet-socket.ts';
import type { TraceFlow } from './flow.ts';
import { nextPacket, rttOf, viewFlow, type FlowView, type TraceAnswer, type TracePacket } from './trace.ts';

export interface PursuitFlow {
  readonly socket: PacketSocket;
  readonly flow: TraceFlow;
}

export interface PursuitPlan {
  readonly flows: readonly PursuitFlow[];
  readonly destination: string;
  readonly maxHops: number;
  readonly queries: number;
  /** Time for everything, milliseconds. */
  readonly budgetMs: number;
}

export interface Trace {
  readonly packets: TracePacket[];
  views: readonly FlowView[];
  /** Why the probe itself could not go on; null otherwise. */
  failure: Failure | null;
}

/** Packets that may be under way at once. */
const WINDOW = 16;
/** Packets sent back to back, and the time until the next may follow: a burst would meet the routers' ICMP limits. */
const BURST = 8;
const BURST_EVERY_MS = 1;
/** For an answer of which nothing is known; for one of a hop that answered before; for one of a hop before others. */
const MAX_WAIT_MS = 2_000;
const WAIT_RTTS_HERE = 3;
const WAIT_RTTS_BEYOND = 10;
const MIN_WAIT_MS = 250;

/**
 * Sends packets with growing TTLs, a window of them at a time, until the path is known to the target, to its end, to a
 * loop, or to a run of silent hops. A silent network costs one wait, since all of its hops are awaited at once.
 *
 * @param onChange called after each answer and each packet given up
 */
export function pursue(plan: PursuitPlan, signal: AbortSignal, onChange: (trace: Trace) => void): Promise<Trace> {
  return new Promise((resolve) => {
    const { flows, queries } = plan;
    const packets: TracePacket[] = [];
    const look = (): FlowView[] => flows.map((_, flow) => viewFlow(packets, flow, plan));
    const trace: Trace = { packets, views: look(), failure: null };
    const endsAtMs = performance.now() + plan.budgetMs;
    const clock = awakeClock();
    let stopTimer = (): void => undefined;
    let isOver = false;

    const finish = (): void => {
      if (isOver) return;
      isOver = true;
      stopTimer();
      clock.stop();
      signal.removeEventListener('abort', finish);
      for (const packet of packets) packet.isGivenUp ||= packet.answer === null;
      trace.views = look();
      resolve(trace);
    };
    const fail = (failure: Failure): void => {
      // What is lost after the end was not needed.
      if (isOver) return;
      trace.failure = failure;
      finish();
    };
    const send = (flow: number, ttl: number): void => {
      const index = packets.reduce((count, packet) => count + (packet.flow === flow ? 1 : 0), 0);
      const awaitedMs = clock.now();
      const packet: TracePacket = { flow, index, ttl, awaitedMs, sentMs: null, answer: null, isGivenUp: false };
      packets.push(packet);
      const { socket, flow: builder } = flows[flow]!;
      socket.send(builder.packet(index), plan.destination, ttl).then(
        (sentMs) => {
          packet.sentMs = sentMs;
          // What the packet process had to do before is no silence of a router.
          packet.awaitedMs = clock.now();
          if (packet.answer !== null && !isOver) onChange(trace);
        },
        (error: unknown) => {
          // One that the kernel refuses after others were answered is lost; before that nothing will ever be answered.
          packet.isGivenUp = true;
          if (packets.every(({ answer }) => answer === null)) fail(classifyError(error, 'request'));
        },
      );
    };
    const step = (isDue: boolean): void => {
      if (isOver) return;
      stopTimer();
      // More answers than the one that came may wait to be read: only a timer, which reads first, calls anyone silent.
      if (isDue && giveUpSilent(trace, clock.now())) onChange(trace);
      trace.views = look();
      let burst = 0;
      let wanted = nextPacket(trace.views, queries);
      while (wanted !== null && burst < BURST && inFlight(trace).length < WINDOW) {
        send(wanted.flow, wanted.ttl);
        burst += 1;
        trace.views = look();
        wanted = nextPacket(trace.views, queries);
      }
      const awaited = inFlight(trace);
      const leftMs = endsAtMs - performance.now();
      if ((wanted === null && awaited.length === 0) || (isDue && leftMs <= 0)) return finish();
      const mayGoOn = wanted !== null && awaited.length < WINDOW;
      const now = clock.now();
      const nextEndMs = Math.min(...awaited.map((packet) => packet.awaitedMs + waitMs(packet, packets) - now));
      stopTimer = readFirstTimer(
        () => step(true),
        mayGoOn ? BURST_EVERY_MS : Math.max(1, Math.ceil(Math.min(leftMs, nextEndMs))),
      );
    };
    const receive = (flow: number, received: ReceivedPacket): void => {
      if (isOver) return;
      const match = flows[flow]!.flow.match(received);
      if (match === undefined) return;
      const { index, error } = match;
      const packet = index === null ? likeliest(packets, flow) : packets.filter((one) => one.flow === flow)[index];
      if (packet === undefined || packet.answer !== null) return;
      const { from, receivedMs, clock } = received;
      packet.answer = { from, receivedMs, clock, error, kind: kindOf(error, from, plan.destination) };
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
    if (signal.aborted) return finish();
    signal.addEventListener('abort', finish);
    return step(false);
  });
}

/** Packets that are still awaited and whose answers would tell something. */
function inFlight({ packets, views }: Trace): TracePacket[] {
  return packets.filter(({ flow, ttl, answer, isGivenUp }) => {
    const { end, horizon, isComplete } = views[flow]!;
    return answer === null && !isGivenUp && (ttl <= horizon || (end !== null && !isComplete));
  });
}

function giveUpSilent(trace: Trace, nowMs: number): boolean {
  const silent = inFlight(trace).filter((packet) => nowMs - packet.awaitedMs >= waitMs(packet, trace.packets));
  for (const packet of silent) packet.isGivenUp = true;
  return silent.length > 0;
}

function waitMs(packet: TracePacket, packets: readonly TracePacket[]): number {
  if (packet.sentMs === null) return MAX_WAIT_MS;
  const answered = packets.filter(({ flow, answer }) => flow === packet.flow && answer !== null);
  const rtts = (list: readonly TracePacket[]): number[] => list.flatMap((one) => rttOf(one) ?? []);
  const here = rtts(answered.filter(({ ttl }) => ttl === packet.ttl));
  const beyond = rtts(
    answered.filter(({ ttl, answer }) => ttl > packet.ttl || (answer !== null && answer.kind !== 'expired')),
  );
  if (here.length > 0) return bounded(WAIT_RTTS_HERE * Math.max(...here));
  return beyond.length > 0 ? bounded(WAIT_RTTS_BEYOND * Math.max(...beyond)) : MAX_WAIT_MS;
}

function bounded(milliseconds: number): number {
  return Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, milliseconds));
}

/** The packet that an answer without a number is for: the first unanswered one beyond every router that answered. */
function likeliest(packets: readonly TracePacket[], flow: number): TracePacket | undefined {
  const own = packets.filter((packet) => packet.flow === flow);
  const lastRouter = Math.max(0, ...own.filter(({ answer }) => answer?.kind === 'expired').map(({ ttl }) => ttl));
  const open = own.filter(({ answer, ttl }) => answer === null && ttl > lastRouter);
  return open.toSorted((a, b) => a.ttl - b.ttl || a.index - b.index)[0];
}

/**
 * Whatever the target itself answers shows that the packet reached it. A filter on the way may say in its own name that
 * nobody listens on the port (`reject` of Linux does), which cannot be told from a target with several addresses.
 */
function kindOf(error: TraceAnswer['error'], from: string, destination: string): TraceAnswer['kind'] {
  if (error === null) return 'target';
  if (error.kind === 'time-exceeded') return 'expired';
  return from === destination ? 'target' : 'refused';
}
