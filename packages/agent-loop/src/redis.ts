import { pause } from '@vantage/timers';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';

const RETRY_START_MS = 500;

/** Calls that wait for each connection, which has one listener for all: an agent takes many jobs at a time. */
const waiting = new WeakMap<Redis, Set<() => void>>();

/** Resolves when the connection is usable. Rejects with the reason of the signal. */
export function untilReady(redis: Redis, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (redis.status === 'ready') return resolve();
    const calls = waiting.get(redis) ?? listenFor(redis);
    const done = (): void => {
      calls.delete(done);
      signal.removeEventListener('abort', done);
      if (signal.aborted) reject(signal.reason as Error);
      else resolve();
    };
    calls.add(done);
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
}

function listenFor(redis: Redis): Set<() => void> {
  const calls = new Set<() => void>();
  waiting.set(redis, calls);
  redis.on('ready', () => {
    for (const call of calls) call();
  });
  return calls;
}

/**
 * Retries an action until it succeeds.
 *
 * @returns false if the agent was stopped meanwhile
 */
export async function retried(signal: AbortSignal, log: Logger, action: () => Promise<void>): Promise<boolean> {
  while (!signal.aborted) {
    try {
      await action();
      return !signal.aborted;
    } catch (error) {
      // For example, the server is loading its data, or refuses the login.
      if (!signal.aborted) log.warn({ err: error }, 'Redis not ready');
      await pause(RETRY_START_MS, signal);
    }
  }
  return false;
}
