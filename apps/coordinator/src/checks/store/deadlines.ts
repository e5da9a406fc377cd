import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { runScript } from '../../redis/scripts.ts';
import { dueScript, moveDeadlinesScript } from './check-scripts.ts';
import type { StoredCheck } from './stored-bytes.ts';

/** The deadlines of the checks that are pending, and for a moment those of checks that have just been completed. */
export interface Deadlines {
  /**
   * Takes a check that is completed off, together with others when the next sweep asks what is due.
   *
   * @param stored what it takes in Redis, for what has to be counted before
   */
  readonly forget: (id: string, stored?: StoredCheck) => void;
  /** Takes off at once what is to be forgotten. Never rejects. */
  readonly flush: () => Promise<void>;
  /** Checks whose deadline has passed and what the time is, in milliseconds since the epoch by Redis' clock. */
  readonly due: (limit: number) => Promise<{ readonly nowMs: number; readonly due: readonly string[] }>;
}

/** A smaller difference is no step: after a fail-over another server's clock counts. */
const STEP_MS = 250;

export function createDeadlines(redis: Redis): Deadlines {
  const keys = [redisKeys.deadlines, redisKeys.deadlinesMoved];
  let ended: string[] = [];
  let lastMs = 0;
  /** By how much deadlines were moved in all, as of the last look. */
  let movedMs = 0;
  // The next server may be a replica that lacks the completion: there the check needs its deadline. A later look finds the others completed.
  redis.on('close', () => (ended = []));

  /** Without the move, checks that are pending would end later by as much as the clock was stepped back. */
  const followClock = async (nowMs: number, movedNowMs: number): Promise<void> => {
    const backMs = Math.round(lastMs - nowMs);
    lastMs = nowMs;
    const seenMs = movedMs + backMs;
    movedMs = movedNowMs;
    if (backMs < STEP_MS) return;
    movedMs = Number(await runScript(redis, moveDeadlinesScript, keys, [backMs, seenMs, STEP_MS]));
  };

  const flush = async (): Promise<void> => {
    const ids = ended;
    ended = [];
    // Should this get lost, the sweep finds each of them due and completed, and asks for the same again.
    if (ids.length > 0) await redis.zrem(redisKeys.deadlines, ...ids).catch(() => undefined);
  };

  return {
    forget: (id) => void ended.push(id),
    flush,
    due: async (limit) => {
      // In this order on one connection: what is forgotten is not due.
      const [, reply] = await Promise.all([flush(), runScript(redis, dueScript, keys, [limit])]);
      const [seconds, microseconds, due, moved] = reply as [string, string, string[], string];
      const nowMs = Number(seconds) * 1_000 + Number(microseconds) / 1_000;
      await followClock(nowMs, Number(moved));
      return { nowMs, due };
    },
  };
}
