import type { Failure, Target } from '@vantage/contract';

import { classifyError } from '../classify.ts';
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
  /** The address of the sender of an ICMP error as it may be shown; null where it may not. */
  readonly shown: (address: string) => string | null;
}

export interface Reply {
  readonly receivedMs: number;
  readonly clock: Clock;
  readonly hopLimit: number | null;
  readonly from: string;
}

/** One packet of the check and what came back for it. Times are those of the packet process. */
export interface SentPacket {
  /** Number within the check, from 1. */
  readonly seq: number;
  /** When the packet process was asked to send it, by the clock of this process. */
  readonly askedMs: number;
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
    if (!finished.aborted) onProgress();
  });

  const startedMs = performance.now();
  const dueMs = (seq: number): number => startedMs + (seq - 1) * plan.intervalMs;
  const hasTime = (seq: number): boolean => Math.max(dueMs(seq), performance.now()) < endsAtMs;
  for (let seq = 1; seq <= plan.count && !finished.aborted && hasTime(seq); seq += 1) {
    const sent: SentPacket = { seq, askedMs: performance.now(), sentMs: null, replies: [], errorFrom: null };
    state.packets.push(sent);
    const request = echoRequest(plan.target.family, socket.identifier, onWire(plan, seq), plan.payload);
    socket.send(request, plan.target.address, plan.ttl).then(
      (sentMs) => {
        sent.sentMs = sentMs;
        onChange(state);
      },
      (error: unknown) => fail(classifyError(error, 'request')),
    );
    if (seq < plan.count && hasTime(seq + 1)) await pause(dueMs(seq + 1) - performance.now(), finished);
  }

  const lastSentMs = performance.now();
  await new Promise<void>((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    onProgress = () => {
      clearTimeout(timer);
      const until = Math.min(lastSentMs + replyWaitMs(state), endsAtMs);
      timer = setTimeout(resolve, Math.max(0, until - performance.now()));
    };
    const end = (): void => {
      clearTimeout(timer);
      resolve();
    };
    if (finished.aborted) return end();
    finished.addEventListener('abort', end, { once: true });
    return onProgress();
  });
  const isHanging = state.packets.some(
    ({ askedMs, sentMs }) => sentMs === null && performance.now() - askedMs > SEND_TIMEOUT_MS,
  );
  if (isHanging) state.failure ??= interrupted('The packet process did not answer.');
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

function replyWaitMs({ packets }: Exchange): number {
  const rtts = packets.flatMap(({ sentMs, replies }) => {
    const first = replies[0];
    return sentMs === null || first === undefined ? [] : [first.receivedMs - sentMs];
  });
  if (rtts.length === 0) return REPLY_TIMEOUT_MS;
  return Math.min(REPLY_TIMEOUT_MS, Math.max(MIN_WAIT_MS, WAIT_RTTS * Math.max(...rtts)));
}

/** Resolves after the time or at the abort, whichever comes first. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, Math.max(0, milliseconds));
    return signal.addEventListener('abort', end);
  });
}
