import { redisKeys } from '@vantage/contract';
import { inTime } from '@vantage/timers';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';

import { hashTag, type Axis, type Charge } from './axes.ts';
import { createMemoryWindow } from './memory-window.ts';
import { countArguments, countScript, readReply } from './script.ts';
import type { Count } from './window.ts';

/**
 * For this long after a failed count in Redis, requests are counted in memory only: a frozen server would delay each.
 */
const PAUSE_MS = 1_000;

/** Longest wait for a count in Redis: leaves most of the request’s store budget to its handler. */
const PATIENCE_MS = 500;

/** Counts requests, shared with other coordinators while Redis is available. */
export interface SharedWindow {
  /**
   * Counts a request. Never rejects: without Redis, limits still apply, counted in memory.
   *
   * @param bucket a name; with `inOneSlot`, all its counters are in one slot of a Redis Cluster, so that one script can
   * count client and targets
   * @param onLikely called after a command was sent to Redis, if the count in memory admits the request
   */
  readonly count: (
    bucket: { readonly name: string; readonly inOneSlot?: boolean },
    charge: Charge,
    onLikely?: () => void,
  ) => Promise<Count>;
}

/**
 * Each request is also counted in memory, so that limits continue when Redis fails.
 *
 * @param redis without an offline queue; undefined counts in memory only
 * @param nowMs monotonic clock
 */
export function createSharedWindow(
  redis: Redis | undefined,
  log: Logger,
  nowMs: () => number,
  patienceMs = PATIENCE_MS,
): SharedWindow {
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
    count: async ({ name, inOneSlot = false }, charge, onLikely) => {
      const local = memory.count(
        withKeys(charge, (key) => `${name}:${key}`),
        nowMs(),
      );
      if (redis === undefined) return local;
      if (redis.status !== 'ready') {
        report(true, new Error(`the connection is ${redis.status}`));
        return local;
      }
      if (nowMs() < pausedUntil) return local;
      const tag = inOneSlot ? name : hashTag(charge.client);
      const prefix = `${redisKeys.rateLimitPrefix}{${tag}}:${inOneSlot ? '' : `${name}:`}`;
      try {
        const counting = countInRedis(
          redis,
          withKeys(charge, (key) => `${prefix}${key}`),
        );
        if (local.admitted && local.refusedBy === undefined) onLikely?.();
        const count = await inTime(counting, patienceMs, () => new Error(`no reply within ${patienceMs} ms`));
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

function withKeys({ client, target, grant }: Charge, keyOf: (key: string) => string): Charge {
  const renamed = (axes: readonly Axis[]): readonly Axis[] => axes.map((axis) => ({ ...axis, key: keyOf(axis.key) }));
  return { client: renamed(client), target: renamed(target), grant };
}

/** Counts a request in Redis. The script may be missing after a restart of Redis; then its whole text is sent. */
async function countInRedis(redis: Redis, charge: Charge): Promise<Count> {
  const keys = [...charge.client, ...charge.target].map(({ key }) => key);
  const values = countArguments(charge);
  try {
    return readReply(await redis.evalsha(countScript.sha1, keys.length, ...keys, ...values));
  } catch (error) {
    if (!Error.isError(error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return readReply(await redis.eval(countScript.lua, keys.length, ...keys, ...values));
  }
}
