import type { Failure } from '@vantage/contract';
import { readFirstTimer } from '@vantage/timers';

import { clockTimer, leastRestMs, onceCaughtUp, probeClock } from '../../sockets/clock/probe-clock.ts';
import type { PacketSocket, ReceivedPacket } from '../../sockets/packet-socket.ts';
import { interrupted, lostFailure } from '../../sockets/provide-packets.ts';
import { echoRequest, parseIcmp } from '../../sockets/wire/icmp.ts';
import {
  onWire,
  packetToSend,
  whyUnsent,
  type SessionState,
  type SessionPlan,
  type SentPacket,
} from './sent-packets.ts';
import { takeError, takeReply } from './take-reply.ts';
import { cutAwaited, doubtAwaited, isAwaited, isHanging, replyWaitMs } from './waits.ts';

/**
 * Sends the packets of a ping check at an interval and collects replies, until no further reply is expected, the check
 * ends, or packets can no longer be sent. An ICMP error does not stop later packets: it may concern one packet only.
 *
 * @param onChange called after each packet sent and received, with the state and whether a packet may still be answered
 */
export function runSession(
  socket: PacketSocket,
  plan: SessionPlan,
  signal: AbortSignal,
  onChange: OnChange,
): Promise<SessionState> {
  return new PingSession(socket, plan, signal, onChange).run();
}

type OnChange = (state: SessionState, isAwaited: (packet: SentPacket) => boolean) => void;

class PingSession {
  private readonly socket: PacketSocket;
  private readonly plan: SessionPlan;
  private readonly onChange: () => void;
  private readonly state: SessionState = {
    packets: [],
    reordered: 0,
    corrupted: 0,
    isAbandoned: false,
    stalledMs: 0,
    failure: null,
  };
  private readonly signal: AbortSignal;
  /** True once no answer is awaited any more. */
  private isOver = false;
  /** Ends the current wait, if there is one. */
  private endWait = (): void => undefined;
  private readonly endsAtMs: number;
  private readonly clock = probeClock(() => doubtAwaited(this.state, this.clock));
  private readonly believeSilence: (believe: () => void) => void;
  private onProgress = (): void => undefined;

  constructor(socket: PacketSocket, plan: SessionPlan, signal: AbortSignal, onChange: OnChange) {
    this.socket = socket;
    this.plan = plan;
    this.onChange = () => onChange(this.state, (packet) => !this.isOver && isAwaited(packet, this.clock));
    this.signal = signal;
    this.believeSilence = onceCaughtUp(this.clock, plan.caughtUp);
    this.endsAtMs = performance.now() + plan.budgetMs;
  }

  async run(): Promise<SessionState> {
    this.socket.onLost((error) => {
      doubtAwaited(this.state, this.clock);
      this.fail(lostFailure(error));
    });
    this.socket.onPacket((packet) => this.receive(packet));
    this.signal.addEventListener('abort', this.end);
    if (this.signal.aborted) this.end();
    await this.sendAll();
    await this.untilNothingIsExpected();
    this.signal.removeEventListener('abort', this.end);
    this.onProgress = () => undefined;
    if (isHanging(this.state, this.clock)) this.state.failure ??= interrupted('The packet process did not answer.');
    this.state.stalledMs = this.clock.stalledMs();
    cutAwaited(this.state, this.clock);
    this.clock.stop();
    this.isOver = true;
    return this.state;
  }

  private readonly end = (): void => {
    this.isOver = true;
    this.endWait();
  };

  private async sendAll(): Promise<void> {
    const { plan, clock } = this;
    const startedMs = clock.now();
    const untilDueMs = (seq: number): number => Math.max(0, startedMs + (seq - 1) * plan.intervalMs - clock.now());
    const hasTime = (seq: number): boolean => performance.now() + untilDueMs(seq) < this.endsAtMs;
    for (let seq = 1; seq <= plan.count && !this.isOver && hasTime(seq); seq += 1) {
      if (seq > 1 && plan.abandoned?.aborted === true) return this.abandon();
      this.send(seq);
      if (seq < plan.count && hasTime(seq + 1)) await this.pause(untilDueMs(seq + 1));
    }
  }

  /** Resolves after the time, at the end of the session, or when no client follows the check any more. */
  private pause(milliseconds: number): Promise<void> {
    const { abandoned } = this.plan;
    return new Promise((resolve) => {
      const end = (): void => {
        stopTimer();
        abandoned?.removeEventListener('abort', end);
        this.endWait = () => undefined;
        resolve();
      };
      const stopTimer = clockTimer(this.clock, end, milliseconds, this.endsAtMs);
      abandoned?.addEventListener('abort', end);
      this.endWait = end;
      if (this.isOver || abandoned?.aborted === true) end();
    });
  }

  /** Sends no further packets; those under way are still awaited. */
  private abandon(): void {
    this.state.isAbandoned = true;
    this.endIfComplete();
  }

  private send(seq: number): void {
    const { plan, clock, socket, state } = this;
    const sent = packetToSend(seq, clock.now());
    state.packets.push(sent);
    const request = echoRequest(plan.target.family, socket.identifier, onWire(plan, seq), plan.payload);
    clock.owed(socket.send(request, plan.target.address, plan.ttl, { dscp: plan.dscp })).then(
      (sentMs) => {
        sent.sentMs = sentMs;
        sent.isDoubtful = false;
        sent.awaitedMs = clock.now();
        this.endIfComplete();
        this.onChange();
        this.onProgress();
      },
      (error: unknown) => this.fail(whyUnsent(error, request)),
    );
  }

  private receive(packet: ReceivedPacket): void {
    if (this.isOver) return;
    // Reading the clock notes a stall, which makes awaited packets doubtful: this reply may have been read late.
    this.clock.now();
    const { plan } = this;
    const message = packet.protocol === 'icmp' ? parseIcmp(plan.target.family, packet.data) : undefined;
    if (message === undefined) return;
    if (message.kind === 'echo-reply') takeReply(this.state, plan, message, packet);
    else takeError(this.state, plan, message, packet, this.clock.now());
    this.endIfComplete();
    this.onChange();
    this.onProgress();
  }

  /**
   * Ends once each packet has a reply and a send time: a reply may be delivered before the send time of its request,
   * without which it has no RTT.
   */
  private endIfComplete(): void {
    const { plan, state } = this;
    const isComplete = state.packets.every(({ sentMs, replies }) => sentMs !== null && replies.length > 0);
    if ((state.packets.length === plan.count || state.isAbandoned) && isComplete) this.end();
  }

  private fail(failure: Failure): void {
    if (this.isOver) return;
    this.state.failure = failure;
    this.end();
  }

  private untilNothingIsExpected(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let stopTimer = (): void => undefined;
    const leftMs = (): number => Math.min(replyWaitMs(this.state, this.clock), this.endsAtMs - performance.now());
    const end = (): void => {
      stopTimer();
      resolve();
    };
    const wait = (): void => {
      stopTimer();
      if (this.isOver) return end();
      const restMs = Math.max(leastRestMs(this.clock) - 1, leftMs());
      stopTimer = readFirstTimer(() => (leftMs() < 1 ? conclude() : wait()), restMs);
    };
    const conclude = (): void => {
      stopTimer = readFirstTimer(end, Math.max(0, this.endsAtMs - performance.now()));
      this.believeSilence(() => (leftMs() < 1 ? end() : wait()));
    };
    this.onProgress = wait;
    this.endWait = end;
    wait();
    return promise;
  }
}
