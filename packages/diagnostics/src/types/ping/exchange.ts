import type { Failure } from '@vantage/contract';

import { readFirstTimer } from '../../shared/read-first-timer.ts';
import { awakeClock, awakeTimer, type AwakeClock } from '../../sockets/awake-clock.ts';
import type { PacketSocket, ReceivedPacket } from '../../sockets/packet-socket.ts';
import { unsentFailure } from '../../sockets/unsent.ts';
import { addressBytes, addressText } from '../../shared/address-bytes.ts';
import { echoRequest, parseIcmp, type EchoReply, type IcmpError } from '../../sockets/wire/icmp.ts';
import { REPLY_TIMEOUT_MS } from './contract.ts';
import { isTelling, matchPayload } from './payload.ts';
import { onWire, quotedPacket, sentAs, type Exchange, type ExchangePlan, type SentPacket } from './sent-packets.ts';

/** Replies beyond so many to one packet are not kept. */
const MAX_REPLIES = 17;
/** After the last packet, with some RTT known, the rest is awaited for so many times the longest, and no less than this. */
const WAIT_RTTS = 4;
const MIN_WAIT_MS = 1_000;
/** A network that doubles a packet may let one copy through and refuse the other: the reply is waited for a little. */
const AFTER_ERROR_MS = 200;

/** A packet process that has not sent a packet after this time hangs: it takes microseconds. */
const SEND_TIMEOUT_MS = 500;

/**
 * Sends the packets of a ping check, one each interval, and gathers what comes back, until every one has its reply or its
 * ICMP error, the kernel or the packet process no longer sends, or nothing more is to be expected. No ICMP error keeps a
 * later packet from being sent: what holds for one packet may not hold for the next.
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
  };
  const receiveError = (error: IcmpError, { from, hopLimit }: ReceivedPacket): void => {
    const sent = quotedPacket(state, plan, error);
    if (sent !== undefined && error.intact) sent.icmp ??= { error, from, hopLimit, readMs: clock.now() };
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
    else receiveError(message, packet);
    if (state.packets.length === plan.count && state.packets.every(({ replies }) => replies.length > 0)) over.abort();
    onChange(state);
    onProgress();
  });

  const startedMs = clock.now();
  const untilDueMs = (seq: number): number => Math.max(0, startedMs + (seq - 1) * plan.intervalMs - clock.now());
  const hasTime = (seq: number): boolean => performance.now() + untilDueMs(seq) < endsAtMs;
  for (let seq = 1; seq <= plan.count && !finished.aborted && hasTime(seq); seq += 1) {
    const sent: SentPacket = { seq, awaitedMs: clock.now(), sentMs: null, replies: [], icmp: null };
    state.packets.push(sent);
    const request = echoRequest(plan.target.family, socket.identifier, onWire(plan, seq), plan.payload);
    socket.send(request, plan.target.address, plan.ttl).then(
      (sentMs) => {
        sent.sentMs = sentMs;
        sent.awaitedMs = clock.now();
        onChange(state);
        onProgress();
      },
      (error: unknown) => fail(unsent(error, request)),
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
    ({ awaitedMs, sentMs, replies, icmp }) =>
      sentMs === null && replies.length === 0 && icmp === null && clock.now() - awaitedMs > SEND_TIMEOUT_MS,
  );
  if (isHanging) state.failure ??= interrupted('The packet process did not answer.');
  clock.stop();
  over.abort();
  return state;
}

function interrupted(message: string): Failure {
  return { code: 'probe_interrupted', phase: 'exec', source: 'probe', message };
}

function isSettled({ replies, icmp }: SentPacket): boolean {
  return replies.length > 0 || icmp !== null;
}

/** The kernel compares the size of a packet with the probe's own link alone, never with the path. */
function unsent(error: unknown, request: Uint8Array): Failure {
  const failure = unsentFailure(error);
  if (failure.code !== 'packet_too_big') return failure;
  const message = `The probe’s own link does not carry an ICMP message of ${request.length} bytes: nothing was sent.`;
  return { ...failure, source: 'probe', message };
}

/** For how long more something may be expected, once every packet was sent. */
function replyWaitMs({ packets }: Exchange, clock: AwakeClock): number {
  if (packets.every(isSettled)) {
    return Math.max(...packets.map(({ icmp }) => icmp?.readMs ?? 0)) + AFTER_ERROR_MS - clock.now();
  }
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
