import { errnoOf } from '../../../sockets/errno.ts';
import { onceCaughtUp, probeClock } from '../../../sockets/clock/probe-clock.ts';
import type { PacketHeader, PacketSocket, ReceivedPacket } from '../../../sockets/packet-socket.ts';

/** Polling interval: the time to wait changes when the round-trip time becomes known. */
const POLL_INTERVAL_MS = 25;
/** Smallest MTU of a link (RFC 791). */
const LEAST_MTU = 68;
/** TTL of the packets of `tryPacket`. */
export const MTU_TTL = 64;

export type Answer =
  | { readonly kind: 'arrived' }
  /** `isStalled`: the probe stalled for long during the wait, and its machine may have lost an answer. */
  | { readonly kind: 'silent'; readonly isStalled: boolean }
  /** The kernel refused the packet as too large (EMSGSIZE): nothing was sent. */
  | { readonly kind: 'unsent' }
  | { readonly kind: 'too-big'; readonly mtu: number };

/** A socket that concurrent tries share. */
export interface SharedSocket extends Pick<PacketSocket, 'identifier' | 'send' | 'close'> {
  readonly listeners: Set<Listener>;
  readonly answers: Answers;
  readonly caughtUp: CaughtUp;
}

/** Resolves when the packet process has forwarded all that it had received. */
export type CaughtUp = () => Promise<unknown>;

/** Answers to all tries so far, including those after the timeout. */
interface Answers {
  /** Size of the largest packet that the target answered. */
  largest: number;
  /** MTU that a router reported, by the size of the packet that it refused. */
  readonly refused: Map<number, number>;
  /** Smallest MTU that each router reported. */
  readonly reported: ReportedMtus;
  /** Longest round trip of a late answer, milliseconds; 0 if none was late. */
  latestMs: number;
  /** Shortest round trip of an answer of the target in time, milliseconds; infinite without one. */
  rttMs: number;
}

/** Smallest MTU that each router reported, by its address. */
export type ReportedMtus = Map<string, number>;

interface Listener {
  readonly packet: (received: ReceivedPacket) => void;
  readonly lost: (error: Error) => void;
}

/** Takes over the packets that a socket receives. */
export function sharedSocket(
  socket: PacketSocket,
  header: PacketHeader,
  reported: ReportedMtus,
  caughtUp: CaughtUp,
): SharedSocket {
  const listeners = new Set<Listener>();
  socket.onPacket((received) => [...listeners].forEach(({ packet }) => packet(received)));
  socket.onLost((error) => [...listeners].forEach(({ lost }) => lost(error)));
  const send: PacketSocket['send'] = (packet, destination, ttl) => socket.send(packet, destination, ttl, header);
  return {
    identifier: socket.identifier,
    send,
    close: socket.close,
    listeners,
    answers: { largest: 0, refused: new Map(), reported, latestMs: 0, rttMs: Infinity },
    caughtUp,
  };
}

/** A packet whose answer is awaited. */
export interface SizedPacket {
  readonly packet: Uint8Array;
  readonly address: string;
  /** Size with the IP header. */
  readonly bytes: number;
  /** Interprets a received packet as the answer to this packet; undefined if it is none. */
  readonly answerIn: (received: ReceivedPacket) => Answer | undefined;
}

/**
 * Sends a packet, and awaits its answer; `silent` after the wait or an abort.
 *
 * @throws if the socket is lost, or the packet cannot be sent for another reason than its size
 */
export function tryPacket(
  socket: SharedSocket,
  { packet, address, bytes, answerIn }: SizedPacket,
  waitMs: () => number,
  signal: AbortSignal,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const clock = probeClock();
    let awaitedMs = clock.now();
    let sentMs: number | undefined;
    let receivedMs: number | undefined;
    let [isSettled, isLate] = [false, false];
    // If this process is busy, it may read the answer before the confirmation that the packet was sent.
    const noteTimes = (): void => {
      if (sentMs !== undefined && receivedMs !== undefined) noteRtt(socket.answers, receivedMs - sentMs, isLate);
    };
    const giveUp = (): void => {
      isLate ||= !isSettled;
      settle({ kind: 'silent', isStalled: clock.hasStalled() });
    };
    // On a busy machine the answer may have arrived, and be unread.
    const believeSilence = onceCaughtUp(clock, socket.caughtUp);
    const timer = setInterval(() => clock.now() - awaitedMs >= waitMs() && believeSilence(giveUp), POLL_INTERVAL_MS);
    const settle = (answer: Answer): void => resolve(end(answer));
    const fail = (error: unknown): void => reject(end(error));
    // The listener stays until the socket is closed, for an answer that comes late.
    const end = <T>(outcome: T): T => {
      isSettled = true;
      clearInterval(timer);
      clock.stop();
      signal.removeEventListener('abort', giveUp);
      return outcome;
    };
    signal.addEventListener('abort', giveUp);
    const onPacket = (received: ReceivedPacket): void => {
      const answer = answerIn(received);
      if (answer === undefined) return;
      note(socket.answers, bytes, answer, received.from);
      if (answer.kind === 'arrived' || isLate) receivedMs = received.receivedMs;
      noteTimes();
      settle(answer);
    };
    const listener = { packet: onPacket, lost: fail };
    socket.listeners.add(listener);
    clock.owed(socket.send(packet, address, MTU_TTL)).then(
      (atMs) => {
        awaitedMs = clock.now();
        sentMs = atMs;
        noteTimes();
      },
      (error: unknown) => (errnoOf(error) === 'EMSGSIZE' ? settle({ kind: 'unsent' }) : fail(error)),
    );
  });
}

function note(answers: Answers, bytes: number, answer: Answer, from: string): void {
  if (answer.kind === 'arrived') answers.largest = Math.max(answers.largest, bytes);
  if (answer.kind !== 'too-big') return;
  answers.refused.set(bytes, answer.mtu);
  noteReport(answers.reported, from, answer.mtu, bytes);
}

/**
 * Notes the MTU that a router reported for a packet of this size, unless it is below `LEAST_MTU`, or not below the
 * size.
 */
export function noteReport(reported: ReportedMtus, from: string, mtu: number, bytes: number): void {
  if (mtu >= LEAST_MTU && mtu < bytes) reported.set(from, Math.min(mtu, reported.get(from) ?? mtu));
}

function noteRtt(answers: Answers, rttMs: number, isLate: boolean): void {
  if (isLate) answers.latestMs = Math.max(answers.latestMs, rttMs);
  else answers.rttMs = Math.min(answers.rttMs, rttMs);
}
