import type { Failure, Target } from '@vantage/contract';

import { classifyError } from '../classify.ts';
import { readFirstTimer } from '../read-first-timer.ts';
import { awakeClock, awakeTimer, type AwakeClock } from '../sockets/awake-clock.ts';
import { icmpFailure } from '../sockets/icmp-failure.ts';
import type { Clock, PacketSocket, ReceivedPacket } from '../sockets/packet-socket.ts';
import { addressBytes, addressText } from '../sockets/wire/address.ts';
import { echoRequest, parseIcmp, type EchoReply, type IcmpError } from '../sockets/wire/icmp.ts';
import { readU16 } from '../sockets/wire/bytes.ts';
import { REPLY_TIMEOUT_MS } from './contract.ts';
import { isTelling, matchPayload, quotesPayload } from './payload.ts';

export interface ExchangePlan {
  readonly target: Target;
  readonly count: number;
  readonly intervalMs: number;
  readonly ttl: number;
  readonly payload: Uint8Array;
  /** Sequence number of the first packet on the wire. */
  readonly firstSequence: number;
  /** Time for everything, milliseconds. */
  readonly budgetMs: number;
  /** Resolves when the packet process has handed on what it had to read. */
  readonly caughtUp: () => Promise<unknown>;
  /** The address of the sender of an ICMP error as it may be shown; null where it may not. */
  readonly shown: (address: string) => string | null;
}

export interface Reply {
  readonly receivedMs: number;
  readonly clock: Clock;
  readonly hopLimit: number | null;
  readonly from: string;
}

/** One packet of the check and what came back for it. Other times than the first are those of the packet process. */
export interface SentPacket {
  /** Number within the check, from 1. */
  readonly seq: number;
  /** When its answer began to be awaited, by the awake clock: when it was sent, or else asked for. */
  awaitedMs: number;
  /** Null until the packet process says that it was sent. */
  sentMs: number | null;
  /** The first is the answer, the rest are duplicates. */
  readonly replies: Reply[];
  /** Sender of an ICMP error about the packet. */
  errorFrom: string | null;
}

export interface Exchange {
  readonly packets: SentPacket[];
  reordered: number;
  corrupted: number;
  /** What ended the exchange before its time; null where it ran to its end. */
  failure: Failure | null;
}

/** Replies beyond so many to one packet are not kept. */
const MAX_REPLIES = 17;
/** After the last packet, with some RTT known, the rest is awaited for so many times the longest, and no less than this. */
const WAIT_RTTS = 4;
const MIN_WAIT_MS = 1_000;
/** A packet process that has not sent a packet after this time hangs: it takes microseconds. */
const SEND_TIMEOUT_MS = 500;

/** True for a reply that came in the time for which one is awaited. */
export function isInTime(packet: SentPacket, reply: Reply): boolean {
  return packet.sentMs !== null && reply.receivedMs - packet.sentMs <= REPLY_TIMEOUT_MS;
}

/**
 * Sends the packets of a ping check, one each interval, and gathers what comes back, until every one is answered, an
 * ICMP error ends it, the kernel or the packet process no longer sends, or nothing more is to be expected.
 *
 * @param onChange called with the state after each packet sent and received
 */
export async function exchange(
  socket: PacketSocket,
  plan: ExchangePlan,
  signal: AbortSignal,
  onChange: (state: Exchange) => void,
): Promise<Exchange> {
  const state: Exchange = { packets: [], reordered: 0, corrupted: 0, failure: null };
  const over = new AbortController();
  const finished = AbortSignal.any([signal, over.signal]);
  const endsAtMs = performance.now() + plan.budgetMs;
  const clock = awakeClock();
  // As the packet process writes addresses.
  const destination = addressText(addressBytes(plan.target.address));
  let highestAnswered = 0;

  const fail = (failure: Failure): void => {
    if (finished.aborted) return;
    state.failure = failure;
    over.abort();
  };
  const receiveReply = (reply: EchoReply, packet: ReceivedPacket): void => {
    const sent = sentAs(state, plan, reply.sequence);
    const match = matchPayload(plan.payload, reply.payload);
    if (sent === undefined || match === 'foreign') return;
    if (!isTelling(plan.payload) && packet.from !== destination) return;
    if (match === 'changed' || !reply.intact) {
      state.corrupted += 1;
      return;
    }
    if (sent.replies.length === 0 && sent.seq < highestAnswered) state.reordered += 1;
    highestAnswered = Math.max(highestAnswered, sent.seq);
    const { receivedMs, clock, hopLimit, from } = packet;
    if (sent.replies.length < MAX_REPLIES) sent.replies.push({ receivedMs, clock, hopLimit, from });
    if (state.packets.length === plan.count && state.packets.every(({ replies }) => replies.length > 0)) over.abort();
  };
  const receiveError = (error: IcmpError, from: string): void => {
    const sent = quotedPacket(state, plan, error);
    if (sent === undefined || !error.intact || sent.replies.length > 0) return;
    sent.errorFrom ??= from;
    if (!hasReply(state)) fail(icmpFailure(plan.target.family, error, plan.shown(from), plan.target.address));
  };

  socket.onLost((error) => {
    const message = `The packet process ended during the check. ${error.message}`;
    fail(interrupted(message));
  });
  let onProgress = (): void => undefined;
  socket.onPacket((packet) => {
    if (finished.aborted) return;
    const message = packet.protocol === 'icmp' ? parseIcmp(plan.target.family, packet.data) : undefined;
    if (message === undefined) return;
    if (message.kind === 'echo-reply') receiveReply(message, packet);
    else receiveError(message, packet.from);
    onChange(state);
    onProgress();
  });

  const startedMs = clock.now();
  const untilDueMs = (seq: number): number => Math.max(0, startedMs + (seq - 1) * plan.intervalMs - clock.now());
  const hasTime = (seq: number): boolean => performance.now() + untilDueMs(seq) < endsAtMs;
  for (let seq = 1; seq <= plan.count && !finished.aborted && hasTime(seq); seq += 1) {
    const sent: SentPacket = { seq, awaitedMs: clock.now(), sentMs: null, replies: [], errorFrom: null };
    state.packets.push(sent);
    const request = echoRequest(plan.target.family, socket.identifier, onWire(plan, seq), plan.payload);
    socket.send(request, plan.target.address, plan.ttl).then(
      (sentMs) => {
        sent.sentMs = sentMs;
        sent.awaitedMs = clock.now();
        onChange(state);
        onProgress();
      },
      (error: unknown) => fail(classifyError(error, 'request')),
    );
    if (seq < plan.count && hasTime(seq + 1)) await pause(untilDueMs(seq + 1), finished);
  }

  await new Promise<void>((resolve) => {
    let stopTimer = (): void => undefined;
    const leftMs = (): number => Math.min(replyWaitMs(state, clock), endsAtMs - performance.now());
    const end = (): void => {
      stopTimer();
      resolve();
    };
    onProgress = () => {
      stopTimer();
      if (finished.aborted) return end();
      stopTimer = readFirstTimer(() => (leftMs() < 1 ? conclude() : onProgress()), Math.max(0, leftMs()));
    };
    const conclude = (): void => {
      stopTimer = readFirstTimer(end, Math.max(0, endsAtMs - performance.now()));
      plan.caughtUp().then(() => (leftMs() < 1 ? end() : onProgress()), end);
    };
    finished.addEventListener('abort', end, { once: true });
    return onProgress();
  });
  onProgress = () => undefined;
  const isHanging = state.packets.some(
    ({ awaitedMs, sentMs, replies }) =>
      sentMs === null && replies.length === 0 && clock.now() - awaitedMs > SEND_TIMEOUT_MS,
  );
  if (isHanging) state.failure ??= interrupted('The packet process did not answer.');
  clock.stop();
  over.abort();
  return state;
}

function interrupted(message: string): Failure {
  return { code: 'probe_interrupted', phase: 'exec', source: 'probe', message };
}

/** Sequence number of a packet as it is sent. */
function onWire({ firstSequence }: ExchangePlan, seq: number): number {
  return (firstSequence + seq - 1) & 0xffff;
}

/** The packet that was sent with a sequence number. */
function sentAs({ packets }: Exchange, { firstSequence }: ExchangePlan, sequence: number): SentPacket | undefined {
  return packets[(sequence - firstSequence) & 0xffff];
}

/** The packet that an ICMP error is about, if it is one of ours beyond doubt. */
function quotedPacket(state: Exchange, plan: ExchangePlan, error: IcmpError): SentPacket | undefined {
  const { payload, destination } = error.quoted;
  if (payload.length < 8 || destination !== plan.target.address) return undefined;
  const sequence = readU16(payload, 6);
  const sent = sentAs(state, plan, sequence);
  if (sent === undefined || !quotesPayload(plan.payload, payload.subarray(8))) return undefined;
  const request = echoRequest(plan.target.family, readU16(payload, 4), sequence, plan.payload);
  // Only the kernel knows the checksum of an ICMPv6 request.
  return plan.target.family === 6 || readU16(request, 2) === readU16(payload, 2) ? sent : undefined;
}

function hasReply(state: Exchange): boolean {
  return state.packets.some(({ replies }) => replies.length > 0);
}

/** For how long more something may be expected. */
function replyWaitMs({ packets }: Exchange, clock: AwakeClock): number {
  const rtts = packets.flatMap(({ sentMs, replies }) => {
    const first = replies[0];
    return sentMs === null || first === undefined ? [] : [first.receivedMs - sentMs];
  });
  const waitMs =
    rtts.length === 0 || packets.some(({ sentMs }) => sentMs === null)
      ? REPLY_TIMEOUT_MS
      : Math.min(REPLY_TIMEOUT_MS, Math.max(MIN_WAIT_MS, WAIT_RTTS * Math.max(...rtts)));
  return Math.max(0, ...packets.map(({ awaitedMs }) => awaitedMs)) + waitMs - clock.now();
}

/** Resolves after the time or at the abort, whichever comes first. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = (): void => {
      stopTimer();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const stopTimer = awakeTimer(end, milliseconds);
    return signal.addEventListener('abort', end);
  });
}
