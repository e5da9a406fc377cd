import { connect, SocketAddress, type Socket } from 'node:net';

import type { Failure, Target } from '@vantage/contract';

import { classifyError, timedOut } from './classify.ts';
import { readFirstTimer } from './read-first-timer.ts';

export type Connected =
  | { readonly socket: Socket; readonly ms: number; readonly failure: null }
  | { readonly socket: null; readonly failure: Failure };

/**
 * One TCP handshake with the pinned address of a target; no name is resolved. Who takes the socket destroys it.
 *
 * @param timeoutMs bound beside that of `signal`
 * @returns the socket and the time of the handshake, or why there is none
 */
export function connectPinned(
  target: Target,
  port: number,
  signal: AbortSignal,
  timeoutMs?: number,
): Promise<Connected> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve({ socket: null, failure: noAnswer() });

    const started = performance.now();
    const socket = connect({ host: target.address, port, family: target.family, noDelay: true });
    const settle = (connected: Connected): void => {
      stopTimer?.();
      signal.removeEventListener('abort', giveUp);
      // An error may follow at any time of the socket's life; without a listener it ends the process.
      socket.removeAllListeners().on('error', () => undefined);
      if (connected.socket === null) socket.destroy();
      resolve(connected);
    };
    const giveUp = (): void => settle({ socket: null, failure: noAnswer() });
    const stopTimer = timeoutMs === undefined ? undefined : readFirstTimer(giveUp, timeoutMs);
    signal.addEventListener('abort', giveUp);
    socket.once('error', (error) => settle({ socket: null, failure: classifyError(error, 'connect') }));
    socket.once('connect', () => {
      const ms = performance.now() - started;
      const pinned = sameAddress(socket.remoteAddress, target.address);
      settle(pinned ? { socket, ms, failure: null } : { socket: null, failure: elsewhere() });
    });
  });
}

function noAnswer(): Failure {
  return timedOut('connect', 'No answer to the SYN in time.');
}

function elsewhere(): Failure {
  const message = 'The connection is not with the address that was admitted.';
  return { code: 'target_refused_by_policy', phase: 'connect', source: 'probe', message };
}

/** IPv6 has many texts for one address; both sides are brought to the one that the kernel writes. */
function sameAddress(actual: string | undefined, pinned: string): boolean {
  if (actual === undefined) return false;
  return canonical(actual) === canonical(pinned);
}

function canonical(address: string): string {
  return new SocketAddress({ address, family: address.includes(':') ? 'ipv6' : 'ipv4' }).address;
}
