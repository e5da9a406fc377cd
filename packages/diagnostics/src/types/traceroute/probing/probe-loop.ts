import type { Failure } from '@vantage/contract';
import { readFirstTimer } from '@vantage/timers';

import { leastRestMs, onceCaughtUp, probeClock } from '../../../sockets/clock/probe-clock.ts';
import { interrupted, lostFailure, STOOD_STILL } from '../../../sockets/provide-packets.ts';
import type { ReceivedPacket } from '../../../sockets/packet-socket.ts';
import { takeAnswer } from './answer-kind.ts';
import { awaitedOf, viewFlows, type FlowView, type Wanted } from './flow-view.ts';
import { BURST, SILENT_AFTER_MS, WINDOW, type ProbeLoopPlan } from './plan.ts';
import {
  answered,
  nextOf,
  openFlows,
  questionAt,
  restMs,
  silentOf,
  inFlight,
  type LoopState,
  type Trace,
} from './trace-state.ts';
import { doubtAwaited, giveUp, isAwaited, leaveOutAwaited, refuse, type TracePacket } from './trace.ts';

/**
 * Sends packets with growing TTLs, a window at a time, until the path to the target, its end, a loop or a run of silent
 * hops is known, or a limit of the plan is reached. If no further hop answers, it sends packets with the full TTL while
 * the target is silent, and one to each hop up to the limit. Silent hops are awaited concurrently.
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
  private readonly trace: Trace;
  private readonly state: LoopState;
  private readonly clock = probeClock(() => doubtAwaited(this.packets));
  private readonly believeSilence: (believe: () => void) => void;
  private readonly endsAtMs: number;
  private stopTimer = (): void => undefined;
  private isOver = false;

  constructor(
    plan: ProbeLoopPlan,
    signal: AbortSignal,
    onChange: (trace: Trace) => void,
    resolve: (trace: Trace) => void,
  ) {
    this.plan = plan;
    this.signal = signal;
    this.believeSilence = onceCaughtUp(this.clock, plan.caughtUp);
    this.onChange = onChange;
    this.resolve = resolve;
    const { window = WINDOW, maxPackets } = plan;
    this.state = { stalled: new Set(), progressMs: this.clock.now(), window, maxPackets };
    this.trace = { packets: this.packets, views: this.currentViews(), failure: null, isCut: false };
    this.endsAtMs = performance.now() + plan.budgetMs;
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

  private currentViews(): readonly FlowView[] {
    return viewFlows(this.packets, this.plan.flows.length, this.plan, this.state.stalled);
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
    this.trace.views = this.currentViews();
    this.resolve(this.trace);
  }

  private fail(failure: Failure): void {
    // A socket that is lost after the end was not needed.
    if (this.isOver) return;
    this.trace.failure = failure;
    this.finish(true);
  }

  /** Gives up silent packets, sends due ones, then ends the trace or waits; `isDue` if the timer called. */
  private step(isDue: boolean): void {
    if (this.isOver) return;
    this.stopTimer();
    const { packets, trace, clock } = this;
    // Further answers may be waiting to be read: only a timer, which reads first, declares a packet silent.
    if (isDue && silentOf(trace, clock.now()).length > 0) this.believeSilence(() => this.giveUpSilent());
    trace.views = this.currentViews();
    if (isDue || awaitedOf(packets, trace.views).length === 0) this.noteStalledFlows();
    if (this.plan.endsInSilence === true && this.state.stalled.size > 0) return this.finish(false);
    const wanted = this.sendBurst();
    const awaited = awaitedOf(packets, trace.views);
    const leftMs = this.endsAtMs - performance.now();
    const { stalled } = this.state;
    const isIdle = wanted === null && awaited.length === 0 && openFlows(trace, stalled).length === 0;
    if (isIdle && questionAt(trace, stalled, this.plan.maxPackets) === Infinity) return this.finish(false);
    if (isDue && leftMs <= 0) return this.finish(true);
    const dueMs = Math.min(leftMs, restMs(trace, wanted, this.state, clock.now()));
    this.stopTimer = readFirstTimer(() => this.step(true), Math.max(leastRestMs(clock), Math.ceil(dueMs)));
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
    while (wanted !== null && burst < BURST && inFlight(this.trace, this.clock.now()).length < this.state.window) {
      this.send(wanted);
      burst += 1;
      this.trace.views = this.currentViews();
      wanted = this.next();
    }
    return wanted;
  }

  private next(): Wanted | null {
    return nextOf(this.trace, this.state.stalled, this.plan.maxPackets, this.clock.now());
  }

  private send({ flow, ttl }: Wanted): void {
    const { packets, clock, trace } = this;
    const index = packets.reduce((count, packet) => count + (packet.flow === flow ? 1 : 0), 0);
    this.state.progressMs = clock.now();
    const awaitedMs = this.state.progressMs;
    const packet: TracePacket = { flow, index, ttl, awaitedMs, sentMs: null, answer: null, isGivenUp: false };
    packets.push(packet);
    const { socket, flow: builder, header } = this.plan.flows[flow]!;
    clock.owed(socket.send(builder.packet(index), this.plan.destination, ttl, header)).then(
      (sentMs) => {
        packet.sentMs = sentMs;
        packet.isDoubtful = false;
        // Awaited only from here on: the packet process may have delayed the packet.
        packet.awaitedMs = clock.now();
        if (packet.answer !== null && !this.isOver) this.onChange(trace);
      },
      (error: unknown) => {
        refuse(packet, error);
        // Before any answer, the refusal ends the trace.
        if (packets.every(({ answer }) => answer === null)) this.fail(packet.unsent!);
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
    this.state.progressMs = this.clock.now();
    this.onChange(this.trace);
    this.step(false);
  }

  /** Without progress, counts the flows that have no end as stalled: they get full-TTL packets next. */
  private noteStalledFlows(): void {
    if (this.next() !== null) return;
    const isIdle = awaitedOf(this.packets, this.trace.views).length === 0;
    if (!isIdle && this.clock.now() - this.state.progressMs < SILENT_AFTER_MS) return;
    for (const flow of openFlows(this.trace, this.state.stalled)) this.state.stalled.add(flow);
    this.trace.views = this.currentViews();
  }
}
