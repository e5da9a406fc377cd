import { connect, SocketAddress, type Socket } from 'node:net';

import type { Failure, FailureCode, Target } from '@vantage/contract';
import { readFirstTimer } from '@vantage/timers';

import { classifyError, timedOut } from '../shared/classify-error.ts';
import type { IcmpNotice } from '../shared/icmp-contract.ts';
import {
  recallIcmp,
  recallSince,
  watchIcmpIfSilent,
  type HeardIcmp,
  type IcmpContext,
  type SilenceWatch,
  type Watched,
} from './icmp/icmp-watch.ts';
import { unsentFailure } from './unsent.ts';

export type Connected =
  | { readonly socket: Socket; readonly ms: number; readonly failure: null }
  /** The target ended the connection after the handshake, before it could be used. */
  | { readonly socket: null; readonly ms: number; readonly failure: Failure }
  /** `icmp` is the ICMP error that ended the handshake; `icmpUnread` is true if the probe may have missed one. */
  | {
      readonly socket: null;
      readonly ms?: undefined;
      readonly failure: Failure;
      readonly icmp?: IcmpNotice;
      readonly icmpUnread?: boolean;
    };

export interface ConnectOptions {
  /** Timeout of the handshake, milliseconds, in addition to the signal. */
  readonly timeoutMs?: number;
  /**
   * If set, ICMP errors that the probe can read end the handshake, with type and sender; the kernel reports at best an
   * errno.
   */
  readonly icmp?: IcmpContext;
}

/**
 * Performs a TCP handshake with the pinned address of a target; no name is resolved. The caller must destroy the
 * socket.
 *
 * @returns the socket and the duration of the handshake, or the failure
 */
export function connectPinned(
  target: Target,
  port: number,
  signal: AbortSignal,
  { timeoutMs, icmp }: ConnectOptions = {},
): Promise<Connected> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve({ socket: null, failure: noAnswer(signal) });

    let started = performance.now();
    const socket = connect({ host: target.address, port, family: target.family, noDelay: true });
    let isSettled = false;
    let localPort: number | undefined;
    let watch: SilenceWatch | undefined;
    const settle = (connected: Connected): void => {
      isSettled = true;
      stopTimer?.();
      watch?.stop();
      signal.removeEventListener('abort', giveUp);
      // An error may follow at any time of the socket's life; without a listener it ends the process.
      socket.removeAllListeners().on('error', ignore);
      if (connected.socket === null) socket.destroy();
      resolve(connected);
    };
    const giveUp = (): void =>
      settle({ socket: null, failure: noAnswer(signal, timeoutMs), icmpUnread: watch?.isUnread() ?? false });
    const refuse = ({ failure, notice }: HeardIcmp): void => settle({ socket: null, failure, icmp: notice });
    const fail = async (error: Error): Promise<void> => {
      socket.on('error', ignore);
      const ended = endedAfterHandshake(error);
      if (ended !== undefined) return settle({ socket: null, failure: ended, ms: performance.now() - started });
      // The kernel assigns a port once it has a route for the SYN: without a port no packet was sent.
      const failure = hasPort(localPort) ? classifyError(error, 'connect') : unsentFailure(error, 'connect');
      const watched = watchedOf(icmp, target, port, localPort);
      const isOfKernel = watched !== undefined && failure.source !== 'probe';
      const heard = isOfKernel ? await recallIcmp({ ...watched, recallMs: recallSince(started) }) : null;
      if (isSettled) return;
      if (heard) refuse(heard);
      else settle({ socket: null, failure, icmpUnread: heard === undefined });
    };
    // The clock is started right before the system call: Node's own preparation is not network time, and takes longest
    // after an idle time.
    socket.once('connectionAttempt', () => (started = performance.now()));
    const stopTimer = timeoutMs === undefined ? undefined : readFirstTimer(giveUp, timeoutMs);
    signal.addEventListener('abort', giveUp);
    socket.once('error', (error) => void fail(error));
    socket.once('connect', () => {
      const ms = performance.now() - started;
      const pinned = isPinned(socket.remoteAddress, target.address);
      settle(pinned ? { socket, ms, failure: null } : { socket: null, failure: elsewhere() });
    });
    // Node connects in a `nextTick` callback that it queued before this one, so the kernel has chosen the port by now.
    process.nextTick(() => {
      localPort = socket.localPort;
      const watched = watchedOf(icmp, target, port, localPort);
      if (watched !== undefined && !isSettled) watch = watchIcmpIfSilent(watched, refuse);
    });
  });
}

/**
 * A function outside of `connectPinned`: a closed socket stays in memory for some time, and with a closure it would
 * keep the check there too.
 */
function ignore(): void {
  // `fail` has handled the error of a handshake.
}

const endedByPeer: ReadonlySet<FailureCode> = new Set(['connection_reset', 'connection_closed']);

/**
 * The failure of a connection that the target ended before Node read that it was made; undefined for other errors. A
 * RST in answer to the SYN is ECONNREFUSED.
 */
function endedAfterHandshake(error: Error): Failure | undefined {
  const failure = classifyError(error, 'request');
  return endedByPeer.has(failure.code) ? failure : undefined;
}

function watchedOf(
  context: IcmpContext | undefined,
  target: Target,
  port: number,
  localPort: number | undefined,
): Omit<Watched, 'recallMs'> | undefined {
  if (context === undefined || !hasPort(localPort)) return undefined;
  return { context, target, protocol: 'tcp', port, localPort };
}

function hasPort(localPort: number | undefined): localPort is number {
  return localPort !== undefined && localPort !== 0;
}

/** States the timeout, unless the time of the whole check ended the wait earlier. */
function noAnswer({ aborted }: AbortSignal, timeoutMs?: number): Failure {
  const when = aborted || timeoutMs === undefined ? 'in time' : `within ${Math.ceil(timeoutMs / 100) / 10} s`;
  return timedOut('connect', `No answer to the SYN ${when}.`);
}

function elsewhere(): Failure {
  const message = 'The connection is not with the address that was admitted.';
  return { code: 'target_refused_by_policy', phase: 'connect', source: 'probe', message };
}

/**
 * An IPv6 address has many notations; both sides are compared in the same one. A connection that is over has no
 * address: nothing can be sent, and the first read has the reason.
 */
function isPinned(actual: string | undefined, pinned: string): boolean {
  return actual === undefined || actual === pinned || canonical(actual) === canonical(pinned);
}

function canonical(address: string): string {
  return new SocketAddress({ address, family: address.includes(':') ? 'ipv6' : 'ipv4' }).address;
}
