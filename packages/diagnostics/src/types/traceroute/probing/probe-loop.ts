import type { Failure } from '@vantage/contract';
import { readFirstTimer } from '@vantage/timers';

import { leastRestMs, onceCaughtUp, probeClock } from '../../../sockets/clock/probe-clock.ts';
import { interrupted, lostFailure, STOOD_STILL } from '../../../sockets/provide-packets.ts';
import type { PacketHeader, PacketProtocol, PacketSocket, ReceivedPacket } from '../../../sockets/packet-socket.ts';
import { unsentFailure } from '../../../sockets/unsent.ts';
import { takeAnswer } from './answer-kind.ts';
import type { TraceFlow } from './flow.ts';
import { awaitedOf, viewFlows, type FlowView, type Wanted } from './flow-view.ts';
import { answered, fullDueMs, nextOf, silentOf, type Trace } from './trace-state.ts';
import { doubtAwaited, giveUp, isAwaited, leaveOutAwaited, type TracePacket } from './trace.ts';
import { waitMs } from './waits.ts';

export interface ProbeLoopFlow {
  readonly socket: PacketSocket;
  readonly flow: TraceFlow;
  /** DSCP, and the flow label of IPv6 packets: routers may balance by it (RFC 6438). */
  readonly header: PacketHeader;
}

export interface ProbeLoopPlan {
  readonly flows: readonly ProbeLoopFlow[];
  readonly destination: string;
  readonly protocol: PacketProtocol;
  readonly firstHop: number;
  readonly maxHops: number;
  readonly queries: number;
  readonly maxPackets: number;
  /** Packets under way at once; `WINDOW` if absent. */
  readonly window?: number;
  /** True if the trace ends, with its last packets still awaited, once a flow gets no answers any more. */
  readonly endsInSilence?: boolean;
  /** Total time, milliseconds. */
  readonly budgetMs: number;
  /** Resolves when the packet process has forwarded what it had received: only then is an unanswered packet lost. */
  readonly caughtUp?: (() => Promise<unknown>) | undefined;
}

/** Limit of packets in flight; one that is in flight for longer than `STALL_MS` makes room for another. */
export const WINDOW = 16;
/** Limit of packets sent back to back: a longer burst may meet the routers’ ICMP limits. */
export const BURST = 8;
/** Time between two bursts. */
export const BURST_EVERY_MS = 1;
/** Silence after which the target is probed with the full TTL, and each further hop once. */
export const STALL_MS = 500;
/**
 * Sends packets with growing TTLs, a window of them at a time, until the path is known up to the target, its end, a
 * loop, or a run of silent hops. If no further hop answers, the target is probed with the full TTL, repeatedly while
 * it is silent, and each hop up to the limit once. The hops of a silent network are awaited concurrently.
 *
 * @param onChange called after each answer and each packet given up
 */
export function runProbeLoop(
  plan: ProbeLoopPlan,
  signal: AbortSignal,
  onChange: (trace: Trace) => void,
): Promise<Trace> {
  return new Promise((resolve) => new ProbeLoop(plan, signal, onChange, resolve).start());
}

class ProbeLoop {
  private readonly plan: ProbeLoopPlan;
  private readonly signal: AbortSignal;
  private readonly onChange: (trace: Trace) => void;
  private readonly resolve: (trace: Trace) => void;
  private readonly packets: TracePacket[] = [];
  /** Flows that were without a recent answer at some time. */
  private readonly stalled = new Set<number>();
  private readonly trace: Trace;
  private readonly clock = probeClock(() => doubtAwaited(this.packets));
  private readonly believeSilence: (believe: () => void) => void;
  private readonly endsAtMs: number;
  private readonly window: number;
  /** When a packet was last sent or answered. */
  private progressMs: number;
  private stopTimer = (): void => undefined;
  private isOver = false;

  constructor(
    plan: ProbeLoopPlan,
    signal: AbortSignal,
    onChange: (trace: Trace) => void,
    resolve: (trace: Trace) => void,
  ) {
    this.plan = plan;
    this.window = plan.window ?? WINDOW;
    this.signal = signal;
    this.believeSilence = onceCaughtUp(this.clock, plan.caughtUp);
    this.onChange = onChange;
    this.resolve = resolve;
    this.trace = { packets: this.packets, views: this.look(), failure: null, isCut: false };
    this.endsAtMs = performance.now() + plan.budgetMs;
    this.progressMs = this.clock.now();
  }

  start(): void {
    for (const [flow, { socket }] of this.plan.flows.entries()) {
      socket.onPacket((received) => this.receive(flow, received));
      socket.onLost((error) => this.fail(lostFailure(error)));
    }
    if (this.signal.aborted) return this.finish(true);
    this.signal.addEventListener('abort', this.abort);
    this.step(false);
  }

  private readonly abort = (): void => this.finish(true);

  private look(): readonly FlowView[] {
    return viewFlows(this.packets, this.plan.flows.length, this.plan, this.stalled);
  }

  private finish(isCut: boolean): void {
    if (this.isOver) return;
    this.isOver = true;
    this.trace.isCut = isCut;
    this.trace.stalledMs = this.clock.stalledMs();
    this.stopTimer();
    this.clock.stop();
    this.signal.removeEventListener('abort', this.abort);
    if (isCut && this.clock.hasStalled() && !this.trace.views.some(({ reached }) => reached)) {
      this.trace.failure ??= interrupted(STOOD_STILL);
    }
    if (this.trace.failure !== null) leaveOutAwaited(this.packets);
    if (isCut || this.plan.endsInSilence !== true) this.packets.filter(isAwaited).forEach(giveUp);
    this.trace.views = this.look();
    this.resolve(this.trace);
  }

  private fail(failure: Failure): void {
    // A socket that is lost after the end was not needed.
    if (this.isOver) return;
    this.trace.failure = failure;
    this.finish(true);
  }

  private step(isDue: boolean): void {
    if (this.isOver) return;
    this.stopTimer();
    const { packets, trace, clock } = this;
    // Further answers may be waiting to be read: only a timer, which reads first, declares a packet silent.
    if (isDue && silentOf(trace, clock.now()).length > 0) this.believeSilence(() => this.giveUpSilent());
    trace.views = this.look();
    if (isDue || awaitedOf(packets, trace.views).length === 0) this.noteStall();
    if (this.plan.endsInSilence === true && this.stalled.size > 0) return this.finish(false);
    const wanted = this.sendBurst();
    const awaited = awaitedOf(packets, trace.views);
    const leftMs = this.endsAtMs - performance.now();
    const isIdle = wanted === null && awaited.length === 0;
    if (isIdle && this.openFlows().length === 0 && this.questionAt() === Infinity) return this.finish(false);
    if (isDue && leftMs <= 0) return this.finish(true);
    const restMs = Math.min(leftMs, this.restMs(wanted, awaited));
    this.stopTimer = readFirstTimer(() => this.step(true), Math.max(leastRestMs(clock), Math.ceil(restMs)));
  }

  private giveUpSilent(): void {
    if (this.isOver) return;
    silentOf(this.trace, this.clock.now()).forEach(giveUp);
    this.onChange(this.trace);
    this.step(true);
  }

  /** @returns the next packet that is wanted after the burst; null if none is */
  private sendBurst(): Wanted | null {
    let burst = 0;
    let wanted = this.next();
    while (wanted !== null && burst < BURST && this.underWay().length < this.window) {
      this.send(wanted);
      burst += 1;
      this.trace.views = this.look();
      wanted = this.next();
    }
    return wanted;
  }

  private next(): Wanted | null {
    return nextOf(this.trace, this.stalled, this.plan.maxPackets, this.clock.now());
  }

  private send({ flow, ttl }: Wanted): void {
    const { packets, clock, trace } = this;
    const index = packets.reduce((count, packet) => count + (packet.flow === flow ? 1 : 0), 0);
    this.progressMs = clock.now();
    const awaitedMs = this.progressMs;
    const packet: TracePacket = { flow, index, ttl, awaitedMs, sentMs: null, answer: null, isGivenUp: false };
    packets.push(packet);
    const { socket, flow: builder, header } = this.plan.flows[flow]!;
    clock.owed(socket.send(builder.packet(index), this.plan.destination, ttl, header)).then(
      (sentMs) => {
        packet.sentMs = sentMs;
        packet.isDoubtful = false;
        // The packet process may have been busy before: that time is no silence of a router.
        packet.awaitedMs = clock.now();
        if (packet.answer !== null && !this.isOver) this.onChange(trace);
      },
      (error: unknown) => {
        // If the kernel refuses a packet after others were answered, it is lost; before any answer, the refusal ends
        // the trace.
        packet.isGivenUp = true;
        if (packets.every(({ answer }) => answer === null)) this.fail(unsentFailure(error));
      },
    );
  }

  private receive(flow: number, received: ReceivedPacket): void {
    if (this.isOver) return;
    // Reading the clock notes a stall, which makes awaited packets doubtful: this answer may have been read late.
    this.clock.now();
    const { packets, plan } = this;
    const match = plan.flows[flow]!.flow.match(received);
    if (match === undefined) return;
    const packet = answered(packets, flow, match);
    if (packet === undefined || !takeAnswer(packet, match, received, plan, packets)) return;
    this.progressMs = this.clock.now();
    this.onChange(this.trace);
    this.step(false);
  }

  private underWay(): TracePacket[] {
    const nowMs = this.clock.now();
    return awaitedOf(this.packets, this.trace.views).filter(({ awaitedMs }) => nowMs - awaitedMs < STALL_MS);
  }

  private openFlows(): number[] {
    return [...this.trace.views.entries()].flatMap(([flow, { end }]) =>
      end === null && !this.stalled.has(flow) ? [flow] : [],
    );
  }

  private noteStall(): void {
    if (this.next() !== null) return;
    const isIdle = awaitedOf(this.packets, this.trace.views).length === 0;
    if (!isIdle && this.clock.now() - this.progressMs < STALL_MS) return;
    for (const flow of this.openFlows()) this.stalled.add(flow);
    this.trace.views = this.look();
  }

  /** Time of the next packet to the target with the full TTL; Infinity if there is none. */
  private questionAt(): number {
    if (this.packets.length >= this.plan.maxPackets) return Infinity;
    const { trace } = this;
    return Math.min(...trace.views.map((_, flow) => (this.stalled.has(flow) ? fullDueMs(trace, flow) : Infinity)));
  }

  /** Time until the next step that is due even without an answer. */
  private restMs(wanted: Wanted | null, awaited: readonly TracePacket[]): number {
    const now = this.clock.now();
    const outFor = this.underWay().map(({ awaitedMs }) => awaitedMs + STALL_MS - now);
    if (wanted !== null) return outFor.length < this.window ? BURST_EVERY_MS : Math.min(...outFor);
    const { packets, trace } = this;
    const silentIn = awaited.map((packet) => packet.awaitedMs + waitMs(packet, packets, trace.views) - now);
    const stallIn = this.openFlows().length > 0 ? [this.progressMs + STALL_MS - now] : [];
    return Math.min(...silentIn, this.questionAt() - now, ...stallIn);
  }
}
