import type { Failure } from '@vantage/contract';
import { awakeClock, readFirstTimer } from '@vantage/timers';

import type { ReceivedPacket } from '../../../../sockets/packet-socket.ts';
import { isTooLate, takeAnswer } from '../answer-kind.ts';
import { LENGTHS, type FlowAnswer } from '../flow.ts';
import { viewRounds } from './view-rounds.ts';
import type { ProbeLoopPlan } from '../probe-loop.ts';
import { DuePackets } from './due-packets.ts';
import { ROUND_MS } from './round-schedule.ts';
import type { Trace } from '../trace-state.ts';
import type { TracePacket } from '../trace.ts';
import { waitMs } from '../waits.ts';

export { ROUND_MS } from './round-schedule.ts';

export interface RoundsPlan extends ProbeLoopPlan {
  /** Number of rounds, including the trace itself. */
  readonly rounds: number;
  /** Aborted to send no further packets. */
  readonly abandoned?: AbortSignal | undefined;
  /** Start of the trace by `performance.now()`: the second round follows a second later, or after the trace. */
  readonly startedMs: number;
}

/**
 * Sends one packet per second to each hop of the trace's first flow, and adds them to the trace.
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
  private readonly clock = awakeClock();
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
    this.due = new DuePackets(trace, plan);
    const nowMs = performance.now();
    this.endsAtMs = nowMs + plan.budgetMs;
    this.firstMs = this.clock.now() + Math.max(0, ROUND_MS - (nowMs - plan.startedMs));
  }

  start(): void {
    const { socket } = this.plan.flows[0]!;
    socket.onPacket((received) => this.receive(received));
    socket.onLost((error) => {
      const message = `The packet process ended during the check. ${error.message}`;
      this.finish({ code: 'probe_interrupted', phase: 'exec', source: 'probe', message });
    });
    if (this.signal.aborted) return this.finish();
    this.signal.addEventListener('abort', this.abort);
    this.plan.abandoned?.addEventListener('abort', this.abandon);
    if (this.plan.abandoned?.aborted === true) this.abandon();
    this.step();
  }

  private readonly abort = (): void => this.finish();

  /** Packets under way are still awaited. */
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
    for (const packet of this.awaited()) packet.isGivenUp = true;
    this.look();
    this.resolve();
  }

  private look(): void {
    this.trace.views = [viewRounds(this.trace.packets, this.plan)];
  }

  private awaited(): TracePacket[] {
    return this.trace.packets.filter(({ answer, isGivenUp }) => answer === null && !isGivenUp);
  }

  private step(): void {
    if (this.isOver) return;
    this.giveUpSilent();
    this.sendDue();
    const awaited = this.awaited();
    if (this.due.next === undefined && awaited.length === 0) return this.finish();
    const leftMs = this.endsAtMs - performance.now();
    if (leftMs <= 0) return this.finish();
    const now = this.clock.now();
    const silentIn = awaited.map((packet) => this.silentAt(packet) - now);
    const dueIn = this.due.next === undefined ? Infinity : this.firstMs + this.due.next.dueMs - now;
    const restMs = Math.min(leftMs, dueIn, ...silentIn);
    this.stopTimer = readFirstTimer(() => this.step(), Math.max(1, Math.ceil(restMs)));
  }

  private silentAt(packet: TracePacket): number {
    const { packets, views } = this.trace;
    return packet.awaitedMs + waitMs(packet, packets, views);
  }

  private giveUpSilent(): void {
    const now = this.clock.now();
    const silent = this.awaited().filter((packet) => this.silentAt(packet) <= now);
    if (silent.length === 0) return;
    for (const packet of silent) packet.isGivenUp = true;
    this.look();
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
    socket.send(flow.packet(index), this.plan.destination, ttl, header).then(
      (sentMs) => {
        packet.sentMs = sentMs;
        packet.awaitedMs = this.clock.now();
        if (packet.answer !== null && !this.isOver) this.onChange(this.trace);
      },
      // A packet that the kernel refuses counts as lost.
      () => void (packet.isGivenUp = true),
    );
  }

  private receive(received: ReceivedPacket): void {
    if (this.isOver) return;
    const { trace, plan } = this;
    const match = plan.flows[0]!.flow.match(received);
    const packet = match === undefined ? undefined : this.answered(match);
    if (match === undefined || packet === undefined || isTooLate(packet, received)) return;
    if (!takeAnswer(packet, match, received, plan, trace.packets)) return;
    this.look();
    this.onChange(trace);
  }

  private answered({ index, remainder }: FlowAnswer): TracePacket | undefined {
    const { packets } = this.trace;
    if (index !== null && packets[index] !== undefined) return packets[index];
    const open = packets.filter(({ answer, isGivenUp }) => answer === null && !isGivenUp);
    if (remainder !== undefined) return open.findLast((one) => one.index % LENGTHS === remainder);
    // A reply without a number is from the target, which gets one packet per second.
    return index === null ? open.toSorted((a, b) => b.ttl - a.ttl || b.index - a.index)[0] : undefined;
  }
}
