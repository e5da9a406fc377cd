import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';

import { hashTag, type Axis } from './axes.ts';
import { createMemoryWindow } from './memory-window.ts';
import { countScript } from './script.ts';
import type { Count } from './window.ts';

/** After Redis failed, this long nobody waits for it again: a frozen one costs each request its command timeout. */
const PAUSE_MS = 1_000;

/** Counts the requests of clients, shared with the other coordinators while Redis answers. */
export interface SharedWindow {
  /** Never rejects, never opens wide: without Redis it counts in memory. */
  readonly count: (bucket: string, axes: readonly Axis[]) => Promise<Count>;
}

/**
 * Each request is counted in memory too, so that what a client has used is still known at the moment Redis goes away.
 *
 * @param redis with a command timeout and without an offline queue; or nothing, to count in memory alone
 * @param nowMs monotonic
 */
export function createSharedWindow(redis: Redis | undefined, log: Logger, nowMs: () => number): SharedWindow {
  const memory = createMemoryWindow();
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let away = false;

  const report = (nowAway: boolean, cause?: unknown): void => {
    if (nowAway === away) return;
    away = nowAway;
    if (away) log.warn({ err: cause }, 'rate limits are counted in memory: Redis does not answer');
    else log.info('rate limits are counted in Redis again');
  };

  return {
    count: async (bucket, axes) => {
      const local = memory.count(prefixed(bucket, axes), nowMs());
      if (redis === undefined) return local;
      if (redis.status !== 'ready') {
        report(true, new Error(`the connection is ${redis.status}`));
        return local;
      }
      if (nowMs() < pausedUntil) return local;
      try {
        const count = await countInRedis(redis, bucket, axes);
        report(false);
        return count;
      } catch (cause) {
        pausedUntil = nowMs() + PAUSE_MS;
        report(true, cause);
        return local;
      }
    },
  };
}

async function countInRedis(redis: Redis, bucket: string, axes: readonly Axis[]): Promise<Count> {
  const tag = hashTag(axes);
  const keys = axes.map(({ key }) => `${redisKeys.rateLimitPrefix}{${tag}}:${bucket}:${key}`);
  const reply = await evaluate(
    redis,
    keys,
    axes.map(({ limit }) => String(limit)),
  );
  return readReply(reply);
}

/** Redis forgets scripts when it restarts; the whole script goes with the next request then. */
async function evaluate(redis: Redis, keys: readonly string[], limits: readonly string[]): Promise<unknown> {
  try {
    return await redis.evalsha(countScript.sha1, keys.length, ...keys, ...limits);
  } catch (error) {
    if (!Error.isError(error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return redis.eval(countScript.lua, keys.length, ...keys, ...limits);
  }
}

/** @throws TypeError for what the script never replies */
export function readReply(reply: unknown): Count {
  if (!Array.isArray(reply) || reply.length !== 3 || !reply.every((part) => Number.isInteger(part))) {
    throw new TypeError('the rate limit script replied with something else');
  }
  const [admitted, hits, resetMs] = reply as [number, number, number];
  return { admitted: admitted === 1, hits, resetMs };
}

function prefixed(bucket: string, axes: readonly Axis[]): readonly Axis[] {
  return axes.map(({ key, limit }) => ({ key: `${bucket}:${key}`, limit }));
}
