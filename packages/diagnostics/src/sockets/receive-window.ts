import type { Socket } from 'node:net';

import { findLibc } from './libc.ts';

/**
 * Bounds how many bytes the other end of a TCP connection may send before they are read. The kernel's own window grows
 * to megabytes, so a target could send far more than is read. Node cannot set it.
 */
export interface ReceiveWindow {
  /** Unread data and the remaining window add up to about this size; an advertised window cannot be withdrawn. */
  readonly limit: (socket: Socket, bytes: number) => void;
}

/** Level and name of each socket option on Linux (`asm-generic/socket.h`, `linux/tcp.h`). */
const SO_RCVBUF = [1, 8] as const;
const TCP_WINDOW_CLAMP = [6, 10] as const;

/** @returns undefined on systems with other socket options, and if koffi is missing */
export async function loadReceiveWindow(): Promise<ReceiveWindow | undefined> {
  const libc = await findLibc();
  if (libc === undefined) return undefined;
  const set = (socket: Socket, [level, option]: readonly [number, number], value: number): void => {
    const descriptor = descriptorOf(socket);
    if (descriptor !== undefined) libc.setIntOption(descriptor, level, option, value);
  };
  return {
    limit: (socket, bytes) => {
      // This also bounds unread data, and disables automatic tuning of the window by the kernel.
      set(socket, SO_RCVBUF, bytes);
      set(socket, TCP_WINDOW_CLAMP, bytes);
    },
  };
}

/** The file descriptor of a socket; undefined after the socket is closed, because its number may be reused. */
function descriptorOf(socket: Socket): number | undefined {
  const { _handle: handle } = socket as Socket & { readonly _handle?: { readonly fd?: unknown } | null };
  return typeof handle?.fd === 'number' && handle.fd >= 0 && !socket.destroyed ? handle.fd : undefined;
}
