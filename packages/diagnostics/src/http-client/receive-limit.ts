import type { Socket } from 'node:net';

import type { ReceiveWindow } from '../sockets/receive-window.ts';

/** Initial receive window of the kernel, which cannot be reduced later. */
const FIRST_WINDOW_BYTES = 64 * 1024;
/** Overhead of a body: TLS records, chunk sizes, trailers. */
const OVERHEAD_BYTES = 8 * 1024;
/** Loopback's segments have 64 KiB: into a smaller window its sender puts nothing until a timer ends. */
const LOOPBACK = /^(?:127\.|::1$|::ffff:127\.)/;

/**
 * Limits what a target may have on the way to what is still to be read of its body, as that becomes less. A body that is not longer
 * than its cap never waits for the window, but on paths that hold more than the largest receive buffer of the system.
 *
 * @returns takes the bytes that are still to be read
 */
export function limitReceived(socket: Socket, window: ReceiveWindow | undefined): (bytes: number) => void {
  if (window === undefined || LOOPBACK.test(socket.remoteAddress ?? '')) return () => undefined;
  window.limit(socket, FIRST_WINDOW_BYTES);
  return (bytes) => window.limit(socket, Math.max(0, bytes) + OVERHEAD_BYTES);
}
