import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { CLOCK_STEP_MS } from '../../redis/clock.ts';
import { runScript } from '../../redis/scripts.ts';
import { dueScript, moveDeadlinesScript } from './check-scripts.ts';
import type { StoredCheck } from './stored-bytes.ts';

/** Deadlines of pending checks and, until the next poll, of checks that were completed since the last one. */
export interface Deadlines {
  /**
   * Removes a completed check, in a batch with the next poll.
   *
   * @param stored its memory in Redis, if it has to be counted first
   */
  readonly forget: (id: string, stored?: StoredCheck) => void;
  /** Removes completed checks now. Never rejects. */
  readonly flush: () => Promise<void>;
  /**
   * Checks whose deadline has passed, and the current time in milliseconds since the epoch by Redis' clock. If it was
   * stepped back, the deadlines have been moved with it.
   */
  readonly due: (limit: number) => Promise<{ readonly nowMs: number; readonly due: readonly string[] }>;
}

export function createDeadlines(redis: Redis): Deadlines {
  const keys = [redisKeys.deadlines, redisKeys.deadlinesMoved];
  let ended: string[] = [];
  let lastMs = 0;
  /** Total shift of deadlines, as of the last poll. */
  let movedMs = 0;
  let moving: Promise<unknown> = Promise.resolve();
  // A promoted replica may lack the completion of a check, which then needs its deadline. Later polls remove the
  // deadlines of completed checks.
  redis.on('close', () => (ended = []));

  /**
   * Moves the deadlines if the clock was stepped back since the last poll; without it, pending checks would end late by
   * the step.
   */
  const followClock = async (nowMs: number, movedNowMs: number): Promise<void> => {
    const backMs = Math.round(lastMs - nowMs);
    lastMs = nowMs;
    const seenMs = movedMs + backMs;
    movedMs = movedNowMs;
    if (backMs >= CLOCK_STEP_MS) moving = move(backMs, seenMs);
    await moving;
  };

  const move = async (backMs: number, seenMs: number): Promise<void> => {
    try {
      movedMs = Number(await runScript(redis, moveDeadlinesScript, keys, [backMs, seenMs, CLOCK_STEP_MS]));
    } catch (error) {
      // The next poll must detect the step again.
      lastMs += backMs;
      moving = Promise.resolve();
      throw error;
    }
  };

  const flush = async (): Promise<void> => {
    const ids = ended;
    ended = [];
    // If this fails, a later poll finds the checks due and completed, and removes them then.
    if (ids.length > 0) await redis.zrem(redisKeys.deadlines, ...ids).catch(() => undefined);
  };

  return {
    forget: (id) => void ended.push(id),
    flush,
    due: async (limit) => {
      // In this order on one connection, so that removed checks are not returned.
      const [, reply] = await Promise.all([flush(), runScript(redis, dueScript, keys, [limit])]);
      const [seconds, microseconds, due, moved] = reply as [string, string, string[], string];
      const nowMs = Number(seconds) * 1_000 + Number(microseconds) / 1_000;
      await followClock(nowMs, Number(moved));
      return { nowMs, due };
    },
  };
}
