import type { Redis } from 'ioredis';

import { CheckEvicted, QueuesFull, RecordsLost, StoreUnavailable, WritesRefused } from './store-errors.ts';

/**
 * Errors with which a server refuses a command because of its own state or of the login, not of the command, such as
 * a lack of memory or a failed authentication.
 */
const serverStates = new Set([
  'OOM',
  'READONLY',
  'MISCONF',
  'LOADING',
  'MASTERDOWN',
  'CLUSTERDOWN',
  'TRYAGAIN',
  'NOREPLICAS',
  'BUSY',
  'NOAUTH',
  'NOPERM',
  'WRONGPASS',
  'UNKILLABLE',
]);

/** Errors of a server that is reachable but cannot write. */
const writeRefusals = new Set(['MISCONF', 'OOM', 'READONLY', 'NOREPLICAS']);

/** True if the login may not run the command, or the server has none of that name: a hosted Redis may have renamed it. */
export function isDenied(error: unknown): boolean {
  return Error.isError(error) && /^(NOPERM |ERR unknown command )/.test(error.message);
}

/** Names of errors that count as faults of this program. */
const programErrors = new Set(['TypeError', 'SyntaxError', 'ReferenceError', 'RangeError', 'AssertionError']);

/** Beginning of the NOPERM error of Redis 7 for a command inside a script. */
const NOT_PERMITTED_IN_SCRIPT = "ERR The user executing the script can't run";

/**
 * Runs commands on a ready connection.
 *
 * @throws StoreUnavailable at once if the connection is not ready, and for every error of the connection or server
 * rather than of the command
 */
export async function onStore<T>(connection: Redis, run: (redis: Redis) => Promise<T>): Promise<T> {
  if (connection.status !== 'ready') throw new StoreUnavailable('Redis is not connected');
  try {
    return await run(connection);
  } catch (error) {
    if (error instanceof QueuesFull || error instanceof CheckEvicted || error instanceof RecordsLost) throw error;
    if (isStoreFault(error)) throw storeUnavailable('Redis cannot serve now', error);
    throw error;
  }
}

/** The error for a fault of the server or connection. */
export function storeUnavailable(message: string, cause: unknown): StoreUnavailable {
  return new (isWriteRefusal(cause) ? WritesRefused : StoreUnavailable)(message, { cause });
}

/** True for errors of a server that is reachable but cannot write. */
export function isWriteRefusal(error: unknown): boolean {
  return error instanceof WritesRefused || writeRefusals.has(replyCode(error));
}

/**
 * True for errors of the server or connection; false if one key, one command or this program is at fault. An error that
 * is neither a reply nor in `programErrors` counts as one of the connection.
 */
export function isStoreFault(error: unknown): boolean {
  if (!Error.isError(error) || programErrors.has(error.name)) return false;
  if (error.name !== 'ReplyError') return true;
  return serverStates.has(replyCode(error)) || error.message.startsWith(NOT_PERMITTED_IN_SCRIPT);
}

/** The code of an error reply: `WRONGTYPE`, `NOGROUP`, `NOSCRIPT`, `ERR` …; '' for another error. */
export function replyCode(error: unknown): string {
  if (!Error.isError(error) || error.name !== 'ReplyError') return '';
  return error.message.split(' ', 1)[0] ?? '';
}
