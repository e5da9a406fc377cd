import { readFileSync } from 'node:fs';
import type { Server, Socket } from 'node:net';

import { canonicalAddress } from './http/client-address.ts';
import { axesOf } from './http/limits/axes.ts';

/** Concurrent connections that a server accepts. */
export interface ConnectionBounds {
  readonly most: number;
  /** Limit per client, so that none can use all connections. */
  readonly mostPerClient: number;
}

const MOST = 10_000;
/** Connections of one client if `MOST` are accepted in all; in proportion if fewer are. */
const MOST_PER_CLIENT = 2_000;
/** File descriptors for Redis, the files and the process itself. */
const RESERVED = 256;

/**
 * Bounds connections, so that file descriptors are left: without one, a process can neither accept a connection nor
 * connect to Redis again.
 *
 * @param openFiles files that the process may open
 */
export function connectionBounds(openFiles: number): ConnectionBounds {
  const most = Math.min(MOST, Math.max(openFiles - RESERVED, Math.ceil(openFiles / 2)));
  return { most, mostPerClient: Math.ceil((most * MOST_PER_CLIENT) / MOST) };
}

/**
 * Bounds the connections of each client; an IPv6 client is a /64, as in the rate limits, and wider networks are not
 * counted here.
 */
export function boundConnections(server: Server, limit: number): void {
  const open = new Map<string, number>();
  server.on('connection', (socket) => {
    const address = canonicalAddress(socket.remoteAddress ?? '');
    if (address === undefined) return;
    const { key } = axesOf(address, 1)[0]!;
    const connections = (open.get(key) ?? 0) + 1;
    if (connections > limit) {
      socket.destroy();
      return;
    }
    open.set(key, connections);
    socket.once('close', () => {
      const left = (open.get(key) ?? 1) - 1;
      if (left === 0) open.delete(key);
      else open.set(key, left);
    });
  });
}

/** @returns a function that closes the connections on which nothing has arrived: Node does not take them for idle */
export function unusedConnections(server: Server): () => void {
  const open = new Set<Socket>();
  server.on('connection', (socket) => open.add(socket.once('close', () => open.delete(socket))));
  return () => {
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
  };
}

/** True if the process may open fewer files than the highest number of connections needs. */
export function isShortOfFiles(openFiles: number): boolean {
  return openFiles < MOST + RESERVED;
}

/** RLIMIT_NOFILE of this process, which Node raises to the hard limit; infinite without a limit or without `/proc`. */
export function openFilesLimit(): number {
  try {
    const [, soft = ''] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === '' ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
