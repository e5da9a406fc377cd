import type { Redis } from 'ioredis';

import { CheckEvicted, QueuesFull, StoreUnavailable } from './store-errors.ts';

/**
 * Replies by which a server says that it cannot serve now, whatever the command: no memory, a replica, a disk that
 * fails, a data set still loading, a login that is refused.
 */
const serverStates = new Set([
  ...['OOM', 'READONLY', 'MISCONF', 'LOADING', 'MASTERDOWN', 'CLUSTERDOWN', 'TRYAGAIN', 'NOREPLICAS', 'BUSY'],
  ...['NOAUTH', 'NOPERM', 'WRONGPASS', 'UNKILLABLE'],
]);

/** How Redis 7 says NOPERM of a command inside a script. */
const NOT_PERMITTED_IN_SCRIPT = "ERR The user executing the script can't run";

/**
 * Runs commands on a connection that is ready.
 *
 * @throws StoreUnavailable at once when the connection is not ready, and for every error that is the store's and not the command's
 */
export async function onStore<T>(connection: Redis, run: (redis: Redis) => Promise<T>): Promise<T> {
  if (connection.status !== 'ready') throw new StoreUnavailable('Redis is not connected');
  try {
    return await run(connection);
  } catch (error) {
    if (error instanceof QueuesFull || error instanceof CheckEvicted) throw error;
    if (isStoreFault(error)) throw new StoreUnavailable('Redis cannot serve now', { cause: error });
    throw error;
  }
}

/** True for what is the fault of the store or the way to it; false where one key or one command was wrong. */
export function isStoreFault(error: unknown): boolean {
  if (!Error.isError(error)) return false;
  if (error.name !== 'ReplyError') return true;
  return serverStates.has(replyCode(error)) || error.message.startsWith(NOT_PERMITTED_IN_SCRIPT);
}

/** The first word of an error reply: `WRONGTYPE`, `NOGROUP`, `NOSCRIPT`, `ERR` … */
export function replyCode(error: unknown): string {
  if (!Error.isError(error) || error.name !== 'ReplyError') return '';
  return error.message.split(' ', 1)[0] ?? '';
}
