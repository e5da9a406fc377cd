import type { Socket } from 'node:net';

import type { ReceiveWindow } from '../sockets/receive-window.ts';

/**
 * Receive window with which a connection begins. It must be small from the start: Linux never shrinks an advertised
 * window.
 */
const FIRST_WINDOW_BYTES = 64 * 1024;
/** Overhead of a body: TLS records, chunk sizes, trailers. */
const OVERHEAD_BYTES = 8 * 1024;
/** Addresses of loopback, where segments have up to 64 KiB: with a smaller window the sender would wait for a timer. */
const LOOPBACK = /^(?:127\.|::1$|::ffff:127\.)/;

/**
 * Keeps the receive window close to the number of bytes still to be read, to bound what a target has in flight.
 *
 * @returns a function that sets the number of bytes still to be read; it does nothing on loopback and without `window`
 */
export function limitReceived(socket: Socket, window: ReceiveWindow | undefined): (bytes: number) => void {
  if (window === undefined || LOOPBACK.test(socket.remoteAddress ?? '')) return () => undefined;
  window.limit(socket, FIRST_WINDOW_BYTES);
  return (bytes) => window.limit(socket, Math.max(0, bytes) + OVERHEAD_BYTES);
}
