import type { Failure } from '@vantage/contract';
import { readFirstTimer } from '@vantage/timers';

import { leastRestMs, onceCaughtUp, probeClock } from '../../../../sockets/clock/probe-clock.ts';
import { lostFailure } from '../../../../sockets/provide-packets.ts';
import type { ReceivedPacket } from '../../../../sockets/packet-socket.ts';
import { isTooLate, takeAnswer } from '../answer-kind.ts';
import { answeredOf } from './answered-of.ts';
import { viewRounds } from './view-rounds.ts';
import type { ProbeLoopPlan } from '../plan.ts';
import { DuePackets } from './due-packets.ts';
import { ROUND_MS } from './round-schedule.ts';
import type { Trace } from '../trace-state.ts';
import { doubtAwaited, giveUp, isAwaited, leaveOutAwaited, refuse, type TracePacket } from '../trace.ts';
import { waitMs } from '../waits.ts';

export { ROUND_MS } from './round-schedule.ts';

export interface RoundsPlan extends ProbeLoopPlan {
  /** Number of rounds, including the trace itself. */
  readonly rounds: number;
  /** Once aborted, no further packets are sent. */
  readonly abandoned?: AbortSignal | undefined;
  /** Start of the trace (`performance.now()`). Round 2 starts a second later, or when the trace ends, if later. */
  readonly startedMs: number;
}

/**
 * Sends one packet per second to each hop of the trace's first flow, to routers less often if the packets do not
 * suffice, and adds them to the trace.
 *
 * @param onChange called after each answer and each packet given up
 */
export function runRounds(
  trace: Trace,
  plan: RoundsPlan,
  signal: AbortSignal,
  onChange: (trace: Trace) => void,
): Promise<void> {
  if (trace.failure !== null || trace.isCut) return Promise.resolve();
  return new Promise((resolve) => new Rounds(trace, plan, signal, onChange, resolve).start());
}

class Rounds {
  private readonly trace: Trace;
  private readonly plan: RoundsPlan;
  private readonly signal: AbortSignal;
  private readonly onChange: (trace: Trace) => void;
  private readonly resolve: () => void;
  private readonly clock = probeClock(() => doubtAwaited(this.trace.packets));
  private readonly believeSilence: (believe: () => void) => void;
  private readonly due: DuePackets;
  private readonly endsAtMs: number;
  private readonly firstMs: number;
  private stopTimer = (): void => undefined;
  private isOver = false;

  constructor(
    trace: Trace,
    plan: RoundsPlan,
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
    this.due = new DuePackets(trace, plan);
    const nowMs = performance.now();
    this.endsAtMs = nowMs + plan.budgetMs;
    this.firstMs = this.clock.now() + Math.max(0, ROUND_MS - (nowMs - plan.startedMs));
  }

  start(): void {
    const { socket } = this.plan.flows[0]!;
    socket.onPacket((received) => this.receive(received));
    socket.onLost((error) => this.finish(lostFailure(error)));
    if (this.signal.aborted) return this.finish();
    this.signal.addEventListener('abort', this.abort);
    this.plan.abandoned?.addEventListener('abort', this.abandon);
    if (this.plan.abandoned?.aborted === true) this.abandon();
    this.step();
  }

  private readonly abort = (): void => this.finish();

  /** Sends no further packets; those under way are still awaited. */
  private readonly abandon = (): void => {
    if (this.due.next !== undefined) this.trace.isAbandoned = true;
    this.due.drop();
  };

  private finish(failure?: Failure): void {
    if (this.isOver) return;
    this.isOver = true;
    this.stopTimer();
    this.clock.stop();
    this.signal.removeEventListener('abort', this.abort);
    this.plan.abandoned?.removeEventListener('abort', this.abandon);
    this.trace.failure ??= failure ?? null;
    if (failure !== undefined) doubtAwaited(this.trace.packets);
    this.trace.isLate = this.due.next !== undefined && this.clock.hasStalled();
    this.trace.stalledMs = (this.trace.stalledMs ?? 0) + this.clock.stalledMs();
    leaveOutAwaited(this.trace.packets);
    this.updateView();
    this.resolve();
  }

  private updateView(): void {
    this.trace.views = [viewRounds(this.trace.packets, this.plan)];
  }

  private awaited(): TracePacket[] {
    return this.trace.packets.filter(isAwaited);
  }

  private step(): void {
    if (this.isOver) return;
    if (this.silent().length > 0) this.believeSilence(() => this.giveUpSilent());
    this.sendDue();
    const awaited = this.awaited();
    if (this.due.next === undefined && awaited.length === 0) return this.finish();
    const leftMs = this.endsAtMs - performance.now();
    if (leftMs <= 0) return this.finish();
    const now = this.clock.now();
    const silentIn = awaited.map((packet) => this.silentAt(packet) - now);
    const dueIn = this.due.next === undefined ? Infinity : this.firstMs + this.due.next.dueMs - now;
    const restMs = Math.min(leftMs, dueIn, ...silentIn);
    this.stopTimer = readFirstTimer(() => this.step(), Math.max(leastRestMs(this.clock), Math.ceil(restMs)));
  }

  private silentAt(packet: TracePacket): number {
    const { packets, views } = this.trace;
    return packet.awaitedMs + waitMs(packet, packets, views);
  }

  private silent(): TracePacket[] {
    const now = this.clock.now();
    return this.awaited().filter((packet) => this.silentAt(packet) <= now);
  }

  private giveUpSilent(): void {
    if (this.isOver) return;
    this.silent().forEach(giveUp);
    this.updateView();
    this.onChange(this.trace);
  }

  private sendDue(): void {
    const now = this.clock.now();
    for (let one = this.due.take(now - this.firstMs); one !== undefined; one = this.due.take(now - this.firstMs)) {
      this.send(one.round, one.ttl);
      this.trace.rounds = this.due.next?.round === one.round ? one.round - 1 : one.round;
    }
  }

  private send(round: number, ttl: number): void {
    const { packets } = this.trace;
    const { socket, flow, header } = this.plan.flows[0]!;
    const index = packets.length;
    const awaitedMs = this.clock.now();
    const packet: TracePacket = {
      flow: 0,
      index,
      ttl,
      awaitedMs,
      sentMs: null,
      answer: null,
      isGivenUp: false,
      round,
    };
    packets.push(packet);
    this.clock.owed(socket.send(flow.packet(index), this.plan.destination, ttl, header)).then(
      (sentMs) => {
        packet.sentMs = sentMs;
        packet.isDoubtful = false;
        packet.awaitedMs = this.clock.now();
        if (packet.answer !== null && !this.isOver) this.onChange(this.trace);
      },
      (error: unknown) => refuse(packet, error),
    );
  }

  private receive(received: ReceivedPacket): void {
    if (this.isOver) return;
    // Reading the clock notes a stall, which makes awaited packets doubtful: this answer may have been read late.
    this.clock.now();
    const { trace, plan } = this;
    const match = plan.flows[0]!.flow.match(received);
    const packet = match === undefined ? undefined : answeredOf(trace.packets, match);
    if (match === undefined || packet === undefined || isTooLate(packet, received)) return;
    if (!takeAnswer(packet, match, received, plan, trace.packets)) return;
    this.updateView();
    this.onChange(trace);
  }
}
