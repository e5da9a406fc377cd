import type { Failure } from '@vantage/contract';
import { readFirstTimer } from '@vantage/timers';

import { leastRestMs, onceCaughtUp, probeClock } from '../../../sockets/clock/probe-clock.ts';
import { lostFailure } from '../../../sockets/provide-packets.ts';
import type { ReceivedPacket } from '../../../sockets/packet-socket.ts';
import { isTooLate, takeAnswer } from '../probing/answer-kind.ts';
import { viewFlows } from '../probing/flow-view.ts';
import { BURST, BURST_EVERY_MS, SILENT_AFTER_MS, WINDOW } from '../probing/plan.ts';
import { answered, type Trace } from '../probing/trace-state.ts';
import { doubtAwaited, giveUp, leaveOutAwaited, type TracePacket } from '../probing/trace.ts';
import { MAX_WAIT_MS, silenceRestMs } from '../probing/waits.ts';
import { awaitedIn, sendAsk, silentIn, silentInMs, countInFlight, type SearchPlan } from './in-flight.ts';
import { asksOf, isTargetDue, isTargetSilent, pathAsks } from './wanted/wanted.ts';
import type { Ask } from './survey.ts';

/** Shortest interval between two published states: those of hundreds of flows are large. */
const SHOW_EVERY_MS = 100;

/**
 * Searches the paths of all flows (MDA), after the trace of the first one, and adds its packets to that trace. Sets
 * `isCut` if it ended early, for example because time or packets ran out.
 *
 * @param onChange called after answers and packets given up, at most once per `SHOW_EVERY_MS`
 */
export function searchPaths(
  trace: Trace,
  plan: SearchPlan,
  signal: AbortSignal,
  onChange: (trace: Trace) => void,
): Promise<void> {
  if (trace.failure !== null || trace.isCut) return Promise.resolve();
  return new Promise((resolve) => new Search(trace, plan, signal, onChange, resolve).start());
}

class Search {
  private readonly trace: Trace;
  private readonly plan: SearchPlan;
  private readonly signal: AbortSignal;
  private readonly onChange: (trace: Trace) => void;
  private readonly resolve: () => void;
  private readonly clock = probeClock(() => doubtAwaited(this.trace.packets));
  private readonly believeSilence: (believe: () => void) => void;
  private readonly endsAtMs: number;
  private asks: Ask[] = [];
  private stopTimer = (): void => undefined;
  private isOpening = false;
  /** True once packets to the silent target take precedence over the search. */
  private isScouting = false;
  private shownMs = -Infinity;
  private isOver = false;

  constructor(
    trace: Trace,
    plan: SearchPlan,
    signal: AbortSignal,
    onChange: (trace: Trace) => void,
    resolve: () => void,
  ) {
    this.trace = trace;
    this.plan = plan;
    this.signal = signal;
    this.onChange = onChange;
    this.resolve = resolve;
    this.believeSilence = onceCaughtUp(this.clock, plan.caughtUp);
    this.endsAtMs = performance.now() + plan.budgetMs;
  }

  start(): void {
    for (const flow of this.plan.flows.keys()) this.listen(flow);
    if (this.signal.aborted) return this.finish(true);
    this.signal.addEventListener('abort', this.abort);
    this.step(false);
  }

  private readonly abort = (): void => this.finish(true);

  private listen(flow: number): void {
    const { socket } = this.plan.flows[flow]!;
    socket.onPacket((received) => this.receive(flow, received));
    socket.onLost((error) => this.finish(true, lostFailure(error)));
  }

  private finish(isCut: boolean, failure?: Failure): void {
    if (this.isOver) return;
    this.isOver = true;
    this.stopTimer();
    this.clock.stop();
    this.signal.removeEventListener('abort', this.abort);
    this.trace.failure ??= failure ?? null;
    this.trace.isCut = isCut;
    this.trace.stalledMs = (this.trace.stalledMs ?? 0) + this.clock.stalledMs();
    leaveOutAwaited(this.trace.packets);
    this.trace.isIncomplete = !isCut && pathAsks(this.trace, this.plan).length > 0;
    this.poll();
    this.resolve();
  }

  private poll(): void {
    this.trace.views = viewFlows(this.trace.packets, this.plan.flows.length, this.plan, new Set());
  }

  private noteChange(): void {
    const now = this.clock.now();
    if (now - this.shownMs < SHOW_EVERY_MS) return;
    this.shownMs = now;
    this.poll();
    this.onChange(this.trace);
  }

  private step(isDue: boolean): void {
    if (this.isOver) return;
    this.stopTimer();
    // Answers may be waiting to be read: only a timer, which reads first, declares a packet silent.
    if (isDue && silentIn(this.trace.packets, this.clock.now()).length > 0) this.believeSilence(this.giveUpSilent);
    const leftMs = this.endsAtMs - performance.now();
    if (isDue && leftMs <= 0) return this.finish(this.asks.length > 0 || !isTargetSilent(this.trace, this.plan));
    if (!this.isScouting && isTargetDue(this.trace, this.plan, leftMs)) {
      this.isScouting = true;
      this.asks = [];
    }
    this.sendBurst();
    const awaited = awaitedIn(this.trace.packets);
    if (this.asks.length === 0 && awaited.length === 0 && !this.isOpening) {
      const asks = asksOf(this.trace, this.plan, this.isScouting, leftMs);
      if (this.plan.maxPackets <= this.trace.packets.length) return this.finish(asks.length > 0);
      this.asks = [...asks];
      if (this.asks.length > 0) return this.openFor(this.asks);
      const lateMs = silenceRestMs(this.trace.packets, this.clock.now());
      return lateMs === 0 ? this.finish(false) : this.wait(Math.min(leftMs, lateMs));
    }
    this.wait(Math.min(leftMs, this.restMs(awaited)));
  }

  private wait(restMs: number): void {
    this.stopTimer = readFirstTimer(() => this.step(true), Math.max(leastRestMs(this.clock), Math.ceil(restMs)));
  }

  /** Opens the new flows that these packets belong to, then continues. */
  private openFor(asks: readonly Ask[]): void {
    const { flows, open } = this.plan;
    const missing = Math.max(...asks.map(({ flow }) => flow + 1)) - flows.length;
    if (missing <= 0) return this.step(false);
    this.isOpening = true;
    open(missing).then(
      (opened) => {
        this.isOpening = false;
        for (const flow of opened) this.listen(flows.push(flow) - 1);
        // The published state needs a view of each flow that has packets.
        this.poll();
        if (opened.length < missing) this.finish(true);
        this.step(false);
      },
      () => this.finish(true),
    );
  }

  private sendBurst(): void {
    if (this.isOpening) return;
    const { packets } = this.trace;
    const onSent = ({ answer }: TracePacket): void => (answer === null || this.isOver ? undefined : this.noteChange());
    for (let left = BURST; left > 0 && countInFlight(packets, this.clock.now()) < WINDOW; left -= 1) {
      if (packets.length >= this.plan.maxPackets) this.asks = [];
      const ask = this.asks.shift();
      if (ask === undefined) return;
      sendAsk(ask, packets, this.plan, this.clock, onSent);
    }
  }

  private receive(flow: number, received: ReceivedPacket): void {
    if (this.isOver) return;
    // Reading the clock notes a stall, which makes awaited packets doubtful: this answer may have been read late.
    this.clock.now();
    const { plan } = this;
    const { packets } = this.trace;
    const match = plan.flows[flow]!.flow.match(received);
    const packet = match && answered(packets, flow, match);
    if (!match || !packet || isTooLate(packet, received) || !takeAnswer(packet, match, received, plan, packets)) return;
    this.noteChange();
    this.step(false);
  }

  private readonly giveUpSilent = (): void => {
    if (this.isOver) return;
    silentIn(this.trace.packets, this.clock.now()).forEach(giveUp);
    this.noteChange();
  };

  /** Time until the next step that is due even without an answer. */
  private restMs(awaited: readonly TracePacket[]): number {
    if (this.isOpening) return MAX_WAIT_MS;
    const now = this.clock.now();
    const silentIn = awaited.map((packet) => silentInMs(packet, this.trace.packets, now));
    if (this.asks.length === 0) return Math.min(...silentIn);
    return countInFlight(this.trace.packets, this.clock.now()) < WINDOW
      ? BURST_EVERY_MS
      : Math.min(SILENT_AFTER_MS, ...silentIn);
  }
}
