import type { Socket } from 'node:net';

import type { Redis } from 'ioredis';

/** The part of a pino logger that is written to. */
export interface ConnectionLog {
  readonly info: (fields: object, message: string) => void;
  readonly warn: (fields: object, message: string) => void;
}

/** Connections whose login is refused, by the log that they write to: it is one login for all of them. */
const refused = new WeakMap<ConnectionLog, Set<Redis>>();

/** One line when a connection is lost or cannot be made, one when it is there; not one for each attempt in between. */
export function logOutages(redis: Redis, connection: string, log: ConnectionLog, closing?: AbortSignal): void {
  let up: boolean | undefined;
  let cause: string | undefined;
  const refusals = refused.get(log) ?? new Set();
  refused.set(log, refusals);
  redis.on('error', (error: Error) => {
    cause = error.message;
    if (up === undefined) log.warn({ connection, cause }, 'Redis unreachable');
    // A password that was changed or a user that was removed: no attempt will succeed until somebody does something.
    else if (refusals.size === 0 && isLoginRefusal(cause)) log.warn({ connection, cause }, 'Redis login rejected');
    if (isLoginRefusal(cause)) refusals.add(redis);
    up ??= false;
  });
  redis.on('close', () => {
    if (up === true && closing?.aborted !== true) log.warn({ connection, cause }, 'Redis connection lost');
    // A node that says nothing lets connections be made and then closes none: what was never up is not lost.
    if (up !== undefined) up = false;
  });
  redis.on('end', () => void refusals.delete(redis));
  const noteAnswer = (): void => {
    if (up !== true) log.info({ connection }, 'Redis connected');
    up = true;
    cause = undefined;
    refusals.delete(redis);
  };
  redis.on('ready', () => {
    if (hasAnswered(redis)) noteAnswer();
    else redis.stream.once('data', noteAnswer);
  });
}

/**
 * True if the server has sent something on this connection. Without a login and a ready check ioredis is ready before: the kernel
 * accepts connections for a Redis that stalls.
 */
export function hasAnswered(redis: Redis): boolean {
  return redis.status === 'ready' && (redis.stream as Partial<Socket> | undefined)?.bytesRead !== 0;
}

function isLoginRefusal(message: string): boolean {
  return /^(WRONGPASS|NOAUTH|NOPERM) /.test(message);
}
