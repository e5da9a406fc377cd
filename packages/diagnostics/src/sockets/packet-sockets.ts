import { isIP } from 'node:net';

import type { Family } from '@vantage/contract';

import { errnoError } from './errno.ts';
import { freeIdentifier, identifierKey } from './identifiers.ts';
import { PARTIAL_RECALL, type Answer, type Request } from './channel/messages.ts';
import { startPacketChild, type PacketChild, type PacketProcessOptions } from './packet-child.ts';
import {
  MAX_PACKET_BYTES,
  type PacketSocket,
  type PacketSocketOptions,
  type PacketSockets,
  type ReceivedPacket,
} from './packet-socket.ts';
import { isPacketProcessLost, privilegeText } from './privilege.ts';

/** What raw sockets a probe has: per family null, or the reason in words why it has none. */
export interface PacketPrivilege {
  readonly ipv4: string | null;
  readonly ipv6: string | null;
}

export interface PacketProcess extends PacketSockets {
  /** Opens and closes a raw ICMP socket of each family. Never throws. For the agent's self-test. */
  readonly probePrivilege: () => Promise<PacketPrivilege>;
  /** Whether the packet process runs now, and why it last ended if it does not. Starts nothing. */
  readonly status: () => PacketProcessStatus;
  /** Ends the packet process; everything that is open is lost. */
  readonly close: () => Promise<void>;
}

export interface PacketProcessStatus {
  readonly pid: number | null;
  /** Times it ended without having been asked to. */
  readonly crashes: number;
  readonly reason: string | null;
}

interface Waiter {
  readonly ref: number;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

interface Listeners {
  packet: (packet: ReceivedPacket) => void;
  lost: (error: Error) => void;
}

/** Waits after the first, second … failure in a row; a process that ran longer than the last starts the row anew. */
const BACKOFF_MS = [0, 250, 1_000, 5_000, 30_000] as const;

/** As much as a message has room for. */
const MAX_RECALL_MS = 0xffff;

/** A process that owes an answer and says nothing for so long hangs, unless this one stood still meanwhile. */
const SILENCE_MS = 5_000;
const LATE_MS = 500;

/** The packet process as the agent sees it. It is started at the first need, and again after each crash. */
export function createPacketSockets(options: PacketProcessOptions = {}): PacketProcess {
  const sockets = new Map<number, Listeners>();
  const waiters = new Map<number, Waiter>();
  const identifiers = new Set<string>();
  let counter = 0;
  let child: PacketChild | undefined;
  let starting: Promise<PacketChild> | undefined;
  let isClosed = false;
  let crashes = 0;
  let failuresInRow = 0;
  let failedAtMs = 0;
  let reason: Error | undefined;
  let silence: NodeJS.Timeout | undefined;

  /** Starts to count the silence of the packet process anew, or stops counting where it owes no answer. */
  const listen = (isOwing: boolean): void => {
    clearTimeout(silence);
    silence = undefined;
    if (!isOwing) return;
    const dueMs = performance.now() + SILENCE_MS;
    // After a pause of this process timers come before the answers that wait: those are read first.
    const timer = setTimeout(() => setImmediate(() => void (silence === timer && onDue(dueMs))), SILENCE_MS);
    silence = timer.unref();
  };
  const onDue = (dueMs: number): void => {
    if (performance.now() - dueMs > LATE_MS) listen(true);
    else onSilence();
  };
  const onSilence = (): void => {
    listen(false);
    if (waiters.size > 0) return child?.kill('does not answer');
    // Whoever asked has left, maybe before there was anything to answer: a question that always has one tells.
    sourceForOnce('127.0.0.1').catch(() => undefined);
  };
  const lose = (error: Error): void => {
    if (performance.now() - failedAtMs > BACKOFF_MS.at(-1)!) failuresInRow = 0;
    [child, starting, reason] = [undefined, undefined, error];
    crashes += isClosed ? 0 : 1;
    failuresInRow += 1;
    failedAtMs = performance.now();
    if (!isClosed) options.onFailure?.(error);
    listen(false);
    const [waiting, open] = [[...waiters.values()], [...sockets.values()]];
    waiters.clear();
    sockets.clear();
    identifiers.clear();
    for (const waiter of waiting) waiter.reject(error);
    for (const listeners of open) listeners.lost(error);
  };
  const settle = (token: number, answer: Answer): void => {
    const waiter = waiters.get(token);
    waiters.delete(token);
    waiter?.resolve(answer);
  };
  const onAnswer = (answer: Answer): void => {
    if (answer.op === 'packet') sockets.get(answer.ref)?.packet(answer);
    else if (answer.op === 'opened') settle(answer.ref, answer);
    else if (answer.op !== 'ready') settle(answer.token, answer);
    listen(waiters.size > 0);
  };
  const start = async (): Promise<PacketChild> => {
    if (isClosed) throw errnoError('ECHILD', 'The packet process was closed.');
    const backoffMs = BACKOFF_MS[Math.min(failuresInRow, BACKOFF_MS.length) - 1] ?? 0;
    if (reason !== undefined && performance.now() - failedAtMs < backoffMs) throw reason;
    starting ??= startPacketChild(options, { onAnswer, onLost: lose }).then(
      (started) => (child = started),
      (error: Error) => {
        lose(error);
        throw error;
      },
    );
    return starting;
  };
  const nextNumber = (): number => (counter = counter >= 0xffff_ffff ? 1 : counter + 1);
  const ask = (ref: number, token: number, request: (running: PacketChild) => void): Promise<Answer> =>
    new Promise((resolve, reject) => {
      if (child === undefined) return reject(reason ?? errnoError('ECHILD', 'The packet process does not run.'));
      waiters.set(token, { ref, resolve, reject });
      if (silence === undefined) listen(true);
      return request(child);
    });

  const openOnce = async (wanted: PacketSocketOptions): Promise<PacketSocket> => {
    if (child === undefined) await start();
    const { family, protocol, errorsOnly } = wanted;
    const identifier = wanted.identifier ?? freeIdentifier(wanted, identifiers);
    const ref = nextNumber();
    const key = identifierKey(wanted, identifier);
    if (errorsOnly === undefined && identifiers.has(key)) {
      throw errnoError('EADDRINUSE', `The identifier ${identifier} is in use.`);
    }
    // A watch sends nothing and takes no identifier from others.
    if (errorsOnly === undefined) identifiers.add(key);
    const release = (): void => void (errorsOnly === undefined && identifiers.delete(key));
    const early: ReceivedPacket[] = [];
    const listeners: Listeners = { packet: (packet) => early.push(packet), lost: () => undefined };
    sockets.set(ref, listeners);
    const common = { ref, family, protocol, identifier } as const;
    const recallMs = Math.min(MAX_RECALL_MS, Math.ceil(errorsOnly?.recallMs ?? 0));
    const request: Request =
      errorsOnly === undefined ? { op: 'open', ...common } : { op: 'watch', ...common, recallMs };
    const answer = await ask(ref, ref, (running) => running.send(request));
    const errno = answer.op === 'opened' ? answer.errno : 'EPROTO';
    const isRecallPartial = errno === PARTIAL_RECALL;
    if (errno !== '' && !isRecallPartial) {
      release();
      sockets.delete(ref);
      throw errnoError(errno, `No raw socket for ${protocol} over IPv${family}.`);
    }

    const send: PacketSocket['send'] = async (packet, destination, ttl, label) => {
      if (!isSendable(packet, destination, ttl)) throw new RangeError('A packet that cannot be sent.');
      if (!sockets.has(ref)) throw reason ?? errnoError('EBADF', 'The packet socket is closed.');
      const token = nextNumber();
      const sent = await ask(ref, token, (running) =>
        running.send({ op: 'send', ref, token, ttl, destination, label: label ?? null, packet }),
      );
      if (sent.op !== 'sent') throw errnoError('EPROTO', 'An answer of another kind.');
      if (sent.errno !== '') throw errnoError(sent.errno, 'The kernel did not send the packet.');
      return sent.sentMs;
    };
    const close = (): void => {
      if (!sockets.delete(ref)) return;
      release();
      child?.send({ op: 'close', ref });
      const own = [...waiters].filter(([, waiter]) => waiter.ref === ref);
      for (const [token, waiter] of own) {
        waiters.delete(token);
        waiter.reject(errnoError('EBADF', 'The socket was closed.'));
      }
    };
    return {
      ...{ identifier, isRecallPartial, send, close },
      onPacket: (listener) => {
        listeners.packet = listener;
        for (const packet of early.splice(0)) listener(packet);
      },
      onLost: (listener) => void (listeners.lost = listener),
    };
  };

  const sourceForOnce = async (destination: string): Promise<string> => {
    if (isIP(destination) === 0) throw new RangeError('Not an IP address.');
    if (child === undefined) await start();
    const token = nextNumber();
    const answer = await ask(0, token, (running) => running.send({ op: 'source', token, destination }));
    if (answer.op !== 'source') throw errnoError('EPROTO', 'An answer of another kind.');
    if (answer.errno !== '') throw errnoError(answer.errno, 'There is no route to the destination.');
    return answer.address;
  };

  /** A process that ended a moment ago is started again: that it ended is no lack of this probe. */
  const twice = async <T>(act: () => Promise<T>): Promise<T> => {
    try {
      return await act();
    } catch (error) {
      if (isClosed || !isPacketProcessLost(error)) throw error;
      return act();
    }
  };
  const open: PacketSockets['open'] = (wanted) => twice(() => openOnce(wanted));
  const sourceFor: PacketSockets['sourceFor'] = (destination) => twice(() => sourceForOnce(destination));

  const probeFamily = async (family: Family): Promise<string | null> => {
    try {
      const socket = await open({ family, protocol: 'icmp' });
      socket.close();
      return null;
    } catch (error) {
      return privilegeText(error);
    }
  };

  const close = async (): Promise<void> => {
    isClosed = true;
    const running = child ?? (await starting?.catch(() => undefined));
    await running?.stop();
    if (running !== undefined) lose(errnoError('ECHILD', 'The packet process was closed.'));
  };

  return {
    open,
    sourceFor,
    close,
    probePrivilege: async () => ({ ipv4: await probeFamily(4), ipv6: await probeFamily(6) }),
    status: () => ({
      pid: child?.pid ?? null,
      crashes,
      reason: child === undefined ? (reason?.message ?? null) : null,
    }),
  };
}

/** The packet process ends at a message that is not valid, and takes everyone's sockets with it. */
function isSendable(packet: Uint8Array, destination: string, ttl: number): boolean {
  return (
    packet.length <= MAX_PACKET_BYTES && isIP(destination) !== 0 && Number.isInteger(ttl) && ttl >= 1 && ttl <= 255
  );
}
