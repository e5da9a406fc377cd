import { Redis, type Command } from 'ioredis';
import type { Logger } from 'pino';

export interface ConnectionOptions {
  readonly url: string;
  /** Certificates in PEM that a TLS server may present; without them those that Node trusts. */
  readonly certificates?: string | undefined;
  /** Shown by `CLIENT LIST`. */
  readonly name: string;
  /**
   * True: commands wait out an outage and are sent again after it. False: they are rejected at once, for a caller that
   * keeps them itself.
   */
  readonly resend: boolean;
  /** Aborted when the connection is closed on purpose, which is not worth a line. */
  readonly closing: AbortSignal;
  readonly log: Logger;
}

/** More than the longest blocking command plus a round trip. Without it a silently dead connection is never noticed. */
const SOCKET_TIMEOUT_MS = 5_000;
const SHORTEST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 2_000;

/** Opens a connection that is tried again for ever, and logs when it is lost and when it is back. */
export function connectRedis({ url, certificates, name, resend, closing, log }: ConnectionOptions): Redis {
  const redis = new TurnRedis(url, {
    connectionName: name,
    maxRetriesPerRequest: resend ? null : 0,
    socketTimeout: SOCKET_TIMEOUT_MS,
    connectTimeout: SOCKET_TIMEOUT_MS,
    retryStrategy: retryDelayMs,
    // After a fail-over the old master says READONLY: only a new connection finds the new one.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    // The ready check is INFO, and setting the client's info is a command too: an agent's user may do neither.
    enableReadyCheck: false,
    disableClientInfo: true,
    enableOfflineQueue: resend,
    ...(url.startsWith('rediss:') && certificates !== undefined ? { tls: { ca: certificates } } : {}),
  });
  logOutages(redis, name, closing, log);
  return redis;
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

/** Resolves when the connection is usable. Rejects with the reason of the signal. */
export function untilReady(redis: Redis, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (redis.status === 'ready') return resolve();
    const done = (): void => {
      redis.off('ready', done);
      signal.removeEventListener('abort', done);
      if (signal.aborted) reject(signal.reason as Error);
      else resolve();
    };
    redis.once('ready', done);
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
}

/** 50 ms doubling to 2 s, the upper half at random: many agents do not come back in step. */
function retryDelayMs(attempt: number): number {
  const delay = Math.min(SHORTEST_RETRY_MS * 2 ** (attempt - 1), LONGEST_RETRY_MS);
  return Math.round(delay * (0.5 + Math.random() / 2));
}

/** One line per outage, not one per attempt. */
function logOutages(redis: Redis, connection: string, closing: AbortSignal, log: Logger): void {
  let up: boolean | undefined;
  let cause: string | undefined;
  redis.on('error', (error) => {
    cause = error.message;
    if (up === undefined) log.warn({ connection, cause }, 'Redis cannot be reached yet');
    up ??= false;
  });
  redis.on('close', () => {
    if (up === true && !closing.aborted) log.warn({ connection, cause }, 'the connection to Redis is lost');
    up = false;
  });
  redis.on('ready', () => {
    log.info({ connection }, 'connected to Redis');
    up = true;
    cause = undefined;
  });
}
