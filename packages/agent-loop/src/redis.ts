import type { Redis } from 'ioredis';

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
