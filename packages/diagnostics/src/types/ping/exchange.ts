import type { Failure } from '@vantage/contract';
import { readFirstTimer } from '@vantage/timers';

import type { PacketSocket, ReceivedPacket } from '../../sockets/packet-socket.ts';
import { clockTimer, leastRestMs, onceCaughtUp, probeClock, type ProbeClock } from '../../sockets/clock/probe-clock.ts';
import { interrupted, lostFailure } from '../../sockets/provide-packets.ts';
import { unsentFailure } from '../../sockets/unsent.ts';
import { addressBytes, addressText } from '@vantage/contract/address';
import { echoRequest, parseIcmp, type EchoReply, type IcmpError } from '../../sockets/wire/icmp.ts';
import { REPLY_TIMEOUT_MS } from './contract.ts';
import { isTelling, matchPayload } from './payload.ts';
import {
  isInTime,
  onWire,
  quotedPacket,
  sentAs,
  type Exchange,
  type ExchangePlan,
  type SentPacket,
} from './sent-packets.ts';

/**
 * Limit of stored replies per packet: the answer, and as many duplicates as a result lists (`MAX_DUPLICATE_ROWS`).
 * Others are only counted.
 */
const MAX_REPLIES = 17;
/** After the last packet, replies are awaited for this multiple of the longest RTT. */
const WAIT_RTTS = 4;
/** Minimum time for which replies are awaited after the last packet. */
const MIN_WAIT_MS = 1_000;
/**
 * A packet that is not sent after this time shows, at the end, that the packet process hangs: sending takes
 * microseconds.
 */
const SEND_TIMEOUT_MS = 100;
/**
 * Wait for a reply after an ICMP error: a network that duplicates a packet may deliver one copy and refuse the other.
 */
const AFTER_ERROR_MS = 200;
/** A packet counts as lost at the end of the check if its reply was awaited for this share of the usual time. */
const LEAST_WAIT_SHARE = 0.5;

/**
 * Sends the packets of a ping check at an interval and collects replies, until no further reply is expected, the check
 * ends, or packets can no longer be sent. An ICMP error does not stop later packets: it may concern one packet only.
 *
 * @param onChange called after each packet sent and received, with the state and whether a packet may still be answered
 */
export function exchange(
  socket: PacketSocket,
  plan: ExchangePlan,
  signal: AbortSignal,
  onChange: OnChange,
): Promise<Exchange> {
  return new PingSession(socket, plan, signal, onChange).run();
}

type OnChange = (state: Exchange, isAwaited: (packet: SentPacket) => boolean) => void;

class PingSession {
  private readonly socket: PacketSocket;
  private readonly plan: ExchangePlan;
  private readonly onChange: () => void;
  private readonly state: Exchange = {
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
  private readonly clock = probeClock(() => this.doubtAwaited());
  private readonly believeSilence: (believe: () => void) => void;
  /** The target in the form in which the packet process reports addresses. */
  private readonly destination: string;
  private highestAnswered = 0;
  private onProgress = (): void => undefined;

  constructor(socket: PacketSocket, plan: ExchangePlan, signal: AbortSignal, onChange: OnChange) {
    this.socket = socket;
    this.plan = plan;
    this.onChange = () =>
      onChange(this.state, (packet) => !this.isOver && !isSettled(packet) && this.isAwaited(packet));
    this.signal = signal;
    this.believeSilence = onceCaughtUp(this.clock, plan.caughtUp);
    this.endsAtMs = performance.now() + plan.budgetMs;
    this.destination = addressText(addressBytes(plan.target.address));
  }

  async run(): Promise<Exchange> {
    this.socket.onLost((error) => {
      this.doubtAwaited();
      this.fail(lostFailure(error));
    });
    this.socket.onPacket((packet) => this.receive(packet));
    this.signal.addEventListener('abort', this.end);
    if (this.signal.aborted) this.end();
    await this.sendAll();
    await this.untilNothingIsExpected();
    this.signal.removeEventListener('abort', this.end);
    this.onProgress = () => undefined;
    if (this.isHanging()) this.state.failure ??= interrupted('The packet process did not answer.');
    this.state.stalledMs = this.clock.stalledMs();
    this.cutAwaited();
    this.clock.stop();
    this.isOver = true;
    return this.state;
  }

  private doubtAwaited(): void {
    for (const packet of this.state.packets) packet.isDoubtful ||= !isSettled(packet) && this.isAwaited(packet);
  }

  /** Notes the packets that the end of the check left too little time for a reply: their silence proves nothing. */
  private cutAwaited(): void {
    const nowMs = this.clock.now();
    const leastMs = LEAST_WAIT_SHARE * longestWaitMs(this.state);
    for (const packet of this.state.packets) packet.isCut = !isSettled(packet) && nowMs - packet.awaitedMs < leastMs;
  }

  private isAwaited({ sentMs, awaitedMs }: SentPacket): boolean {
    return sentMs === null || this.clock.now() - awaitedMs <= REPLY_TIMEOUT_MS;
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
    const sent: SentPacket = {
      seq,
      awaitedMs: clock.now(),
      sentMs: null,
      replies: [],
      isDoubtful: false,
      isCut: false,
      icmp: null,
      unlisted: { duplicates: 0, late: 0 },
    };
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
      (error: unknown) => this.fail(unsent(error, request)),
    );
  }

  private receive(packet: ReceivedPacket): void {
    if (this.isOver) return;
    // Reading the clock notes a stall, which makes awaited packets doubtful: this reply may have been read late.
    this.clock.now();
    const { plan } = this;
    const message = packet.protocol === 'icmp' ? parseIcmp(plan.target.family, packet.data) : undefined;
    if (message === undefined) return;
    if (message.kind === 'echo-reply') this.receiveReply(message, packet);
    else this.receiveError(message, packet);
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

  private receiveReply(reply: EchoReply, packet: ReceivedPacket): void {
    const { plan, state } = this;
    const sent = sentAs(state, plan, reply.sequence);
    const match = matchPayload(plan.payload, reply.payload);
    if (sent === undefined || match === 'foreign') return;
    if (!isTelling(plan.payload) && packet.from !== this.destination) return;
    if (match === 'changed' || !reply.intact) {
      state.corrupted += 1;
      return;
    }
    if (sent.replies.length === 0 && sent.seq < this.highestAnswered) state.reordered += 1;
    this.highestAnswered = Math.max(this.highestAnswered, sent.seq);
    const { receivedMs, clock, hopLimit, from } = packet;
    const received = { receivedMs, clock, hopLimit, from };
    if (sent.replies.length < MAX_REPLIES) sent.replies.push(received);
    else if (isInTime(sent, received)) sent.unlisted.duplicates += 1;
    else sent.unlisted.late += 1;
  }

  private receiveError(error: IcmpError, { from, hopLimit }: ReceivedPacket): void {
    const sent = quotedPacket(this.state, this.plan, error);
    if (sent !== undefined && error.intact) sent.icmp ??= { error, from, hopLimit, readMs: this.clock.now() };
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

  private isHanging(): boolean {
    const nowMs = this.clock.now();
    return this.state.packets.some(
      (packet) =>
        packet.sentMs === null &&
        !isSettled(packet) &&
        (this.clock.isStill() || nowMs - packet.awaitedMs > SEND_TIMEOUT_MS),
    );
  }
}

function isSettled({ replies, icmp }: SentPacket): boolean {
  return replies.length > 0 || icmp !== null;
}

/** The kernel compares the size of a packet only with the MTU of the probe's own link, never with the path. */
function unsent(error: unknown, request: Uint8Array): Failure {
  const failure = unsentFailure(error);
  if (failure.code !== 'packet_too_big') return failure;
  const message = `The probe’s own link does not carry an ICMP message of ${request.length} bytes: nothing was sent.`;
  return { ...failure, source: 'probe', message };
}

/** Milliseconds for which replies are still awaited after every packet was sent. */
function replyWaitMs({ packets }: Exchange, clock: ProbeClock): number {
  if (packets.every(isSettled)) {
    return Math.max(...packets.map(({ icmp }) => icmp?.readMs ?? 0)) + AFTER_ERROR_MS - clock.now();
  }
  const waitMs = longestWaitMs({ packets });
  return Math.max(0, ...packets.map(({ awaitedMs }) => awaitedMs)) + waitMs - clock.now();
}

/** Milliseconds for which the reply to a packet is awaited, by the round trips of others. */
function longestWaitMs({ packets }: Pick<Exchange, 'packets'>): number {
  const rtts = packets.flatMap(({ sentMs, replies }) => {
    const first = replies[0];
    return sentMs === null || first === undefined ? [] : [first.receivedMs - sentMs];
  });
  return rtts.length === 0 || packets.some(({ sentMs }) => sentMs === null)
    ? REPLY_TIMEOUT_MS
    : Math.min(REPLY_TIMEOUT_MS, Math.max(MIN_WAIT_MS, WAIT_RTTS * Math.max(...rtts)));
}
