import { LONGEST_CHECK_MS, redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { CLOCK_STEP_MS } from '../../redis/clock.ts';
import { defineScript, runScript } from '../../redis/scripts.ts';
import type { StoredCheck } from './stored-bytes.ts';

/**
 * Reads the clock and the checks whose deadline has passed. KEYS deadlines, moved. ARGV limit. Returns seconds and
 * microseconds of the clock, the due checks, and the total shift of deadlines (ms).
 */
const dueScript = defineScript(
  'no-writes',
  `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now), 'LIMIT', 0, ARGV[1])
return { time[1], time[2], due, redis.call('GET', KEYS[2]) or '0' }
`,
);

/** A deadline further away than this counts as written by the clock before a step back; milliseconds. */
const FARTHEST_DEADLINE_MS = LONGEST_CHECK_MS + CLOCK_STEP_MS;

/**
 * Shifts all deadlines back after a step of the clock, so that pending checks keep their time. A coordinator passes the
 * total shift at its last poll plus the step that it observed; only what exceeds the present total is applied, so that
 * one step shifts once and two steps shift twice. If another coordinator has applied the shift, only deadlines farther
 * away than any check lasts are shifted: they were written by the clock before the step. KEYS deadlines, moved. ARGV
 * the step (ms), that sum (ms), smallest step (ms). Returns the total shift (ms).
 */
const moveDeadlinesScript = defineScript(
  'allow-oom',
  `
local moved = tonumber(redis.call('GET', KEYS[2]) or '0')
local by, from = math.min(tonumber(ARGV[2]) - moved, tonumber(ARGV[1])), '-inf'
if by < tonumber(ARGV[3]) then
  by, from = tonumber(ARGV[1]), string.format('%.0f', redis.call('TIME')[1] * 1000 + ${FARTHEST_DEADLINE_MS})
else
  moved = moved + by
  redis.call('SET', KEYS[2], string.format('%.0f', moved))
end
for _, id in ipairs(redis.call('ZRANGE', KEYS[1], from, 'inf', 'BYSCORE')) do
  redis.call('ZINCRBY', KEYS[1], -by, id)
end
return string.format('%.0f', moved)
`,
);

export const deadlineScripts = [dueScript, moveDeadlinesScript] as const;

/** Deadlines of pending checks, and those of completed ones that are not removed yet. */
export interface Deadlines {
  /**
   * Removes a check that is completed or no longer stored, in a batch with a later poll.
   *
   * @param stored the memory of the check in Redis, if the result budget has to count the check before its deadline is
   * removed
   */
  readonly forget: (id: string, stored?: StoredCheck) => void;
  /** Removes now what `forget` has collected. Never rejects. */
  readonly flush: () => Promise<void>;
  /**
   * Checks whose deadline has passed, and the current time in milliseconds since the epoch by Redis' clock. If the
   * clock was stepped back by `CLOCK_STEP_MS` or more, the deadlines have been moved with it.
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
   * Moves the deadlines if the clock was stepped back since the last poll: pending checks would end late by as much.
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
      // Sent in this order on one connection, so that removed checks are not returned.
      const [, reply] = await Promise.all([flush(), runScript(redis, dueScript, keys, [limit])]);
      const [seconds, microseconds, due, moved] = reply as [string, string, string[], string];
      const nowMs = Number(seconds) * 1_000 + Number(microseconds) / 1_000;
      await followClock(nowMs, Number(moved));
      return { nowMs, due };
    },
  };
}
