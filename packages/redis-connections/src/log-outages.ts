import type { Socket } from 'node:net';

import type { Redis } from 'ioredis';

import { connectionFault } from './connection-fault.ts';

/** The subset of a pino logger that is used. */
export interface ConnectionLog {
  readonly info: (fields: object, message: string) => void;
  readonly warn: (fields: object, message: string) => void;
}

/** Connections whose login is refused, by log: the connections of one log use the same login. */
const refused = new WeakMap<ConnectionLog, Set<Redis>>();

/** A connection that ends within this time after it was ready is short-lived. */
const SHORT_MS = 5_000;
/**
 * After this number of short-lived connections in a row a connection is reported when it has lasted: a Redis that has
 * become a replica accepts each one, and each ends at its first write.
 */
const SHORT_REPORTED = 3;

/**
 * Logs a line when a connection is lost or cannot be established, when its login is rejected, and when it is ready; not
 * one per attempt.
 */
export function logOutages(redis: Redis, connection: string, log: ConnectionLog, closing?: AbortSignal): void {
  let up: boolean | undefined;
  let cause: string | undefined;
  let readyAtMs: number | undefined;
  let shortInRow = 0;
  let reporting: NodeJS.Timeout | undefined;
  const refusals = refused.get(log) ?? new Set();
  refused.set(log, refusals);
  redis.on('error', (error: Error) => {
    cause = connectionFault(error);
    if (up === undefined) log.warn({ connection, cause }, 'Redis unreachable');
    // For example after the password was changed or the user was deleted.
    else if (refusals.size === 0 && isLoginRefusal(cause)) log.warn({ connection, cause }, 'Redis login rejected');
    if (isLoginRefusal(cause)) refusals.add(redis);
    up ??= false;
  });
  redis.on('close', () => {
    clearTimeout(reporting);
    if (readyAtMs !== undefined) shortInRow = performance.now() - readyAtMs < SHORT_MS ? shortInRow + 1 : 0;
    readyAtMs = undefined;
    if (up === true && closing?.aborted !== true) log.warn({ connection, cause }, 'Redis connection lost');
    // Stays undefined until a success or an error, so that the first error is logged as "unreachable".
    if (up !== undefined) up = false;
  });
  redis.on('end', () => void refusals.delete(redis));
  const report = (): void => {
    if (up !== true) log.info({ connection }, 'Redis connected');
    up = true;
  };
  const noteAnswer = (): void => {
    readyAtMs = performance.now();
    cause = undefined;
    refusals.delete(redis);
    if (shortInRow < SHORT_REPORTED) report();
    else reporting = setTimeout(report, SHORT_MS).unref();
  };
  redis.on('ready', () => {
    if (hasAnswered(redis)) noteAnswer();
    else redis.stream.once('data', noteAnswer);
  });
}

/**
 * True if the connection is ready and the server has sent data on it, or if a cluster client is ready. Without a login
 * and a ready check, ioredis reports ready earlier: the kernel accepts connections for a stalled Redis.
 */
export function hasAnswered(redis: Redis): boolean {
  return redis.status === 'ready' && (redis.stream as Partial<Socket> | undefined)?.bytesRead !== 0;
}

function isLoginRefusal(message: string): boolean {
  return /^(WRONGPASS|NOAUTH|NOPERM) /.test(message);
}
