import { Redis, type Command, type RedisOptions } from 'ioredis';

import type { Log } from './log.ts';

/**
 * A command waits this long for its reply. With `enableOfflineQueue: false` nothing is kept for later: a caller is told
 * at once that the store is away instead of hanging with it.
 */
const COMMAND_TIMEOUT_MS = 1_500;

/** A connection that owes a reply and hears nothing is dead; without this it is never noticed. */
const SOCKET_TIMEOUT_MS = 2_000;

const failFast = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  commandTimeout: COMMAND_TIMEOUT_MS,
  socketTimeout: SOCKET_TIMEOUT_MS,
  connectTimeout: 2_000,
  retryStrategy: backOffMs,
} satisfies RedisOptions;

/** Opens a connection that fails fast, and reconnects for as long as it lives. Whether Redis is there yet does not matter. */
export function openConnection(redisUrl: string, name: string, log: Log): Redis {
  const connection = new TurnRedis(redisUrl, { ...failFast, connectionName: `vantage:coordinator:${name}` });
  let up = false;
  let said = '';
  connection.on('ready', () => {
    up = true;
    said = '';
    log.info({ connection: name }, 'Redis is connected');
  });
  connection.on('close', () => {
    if (up) log.warn({ connection: name }, 'Redis connection lost');
    up = false;
  });
  // Each attempt to reconnect fails with an error of its own; the log takes the first of a kind.
  connection.on('error', (error: Error) => {
    if (error.message !== said) log.warn({ connection: name, error: error.message }, 'Redis connection failed');
    said = error.message;
  });
  return connection;
}

/**
 * Sends all commands of one turn of the event loop in one write, in their order: a write is a system call that wakes
 * Redis, and both cost more than most commands.
 */
class TurnRedis extends Redis {
  private corked = false;

  override sendCommand(command: Command, stream?: Parameters<Redis['sendCommand']>[1]): unknown {
    if (this.status === 'ready' && !this.corked) {
      const socket = this.stream;
      this.corked = true;
      socket.cork();
      // After the promises that are settled already: what they lead to goes along.
      process.nextTick(() => {
        this.corked = false;
        socket.uncork();
      });
    }
    return super.sendCommand(command, stream);
  }
}

/** Closes connections. A `QUIT` that is never answered does not hold the end of the process up. */
export async function closeAll(connections: readonly Redis[], withinMs = 500): Promise<void> {
  await Promise.all(connections.map((connection) => close(connection, withinMs)));
}

async function close(connection: Redis, withinMs: number): Promise<void> {
  if (connection.status === 'end') return;
  if (connection.status === 'ready') await within(connection.quit(), withinMs);
  connection.disconnect();
}

/** Waits for a promise, but not longer than a time, and not for its errors. */
export async function within(promise: Promise<unknown>, milliseconds: number): Promise<void> {
  const timeout = Promise.withResolvers<void>();
  const timer = setTimeout(timeout.resolve, milliseconds);
  await Promise.race([promise.catch(() => undefined), timeout.promise]);
  clearTimeout(timer);
}

/**
 * 50 ms, doubled up to 300: what a deadline may be late after an outage leaves no room for more. With a jitter that keeps
 * coordinators from returning in step.
 */
function backOffMs(attempt: number): number {
  return Math.min(50 * 2 ** Math.min(attempt - 1, 10), 300) * (0.75 + Math.random() / 2);
}
