import { createRemoteClock, msOfTimeReply } from '@vantage/timers';
import type { Redis } from 'ioredis';

/** Validity of an estimate; then Redis is asked again. */
const GOOD_FOR_MS = 5_000;

/**
 * Minimum backward step that counts as one, milliseconds: after a failover the clock is that of another server, which
 * may be slightly behind.
 */
export const CLOCK_STEP_MS = 250;

/**
 * The clock of Redis, which decides all deadlines, so that coordinators and agents need no synchronised clocks. Between
 * replies it advances by the monotonic clock, so that steps of the local clock have no effect.
 */
export interface RedisClock {
  /**
   * Milliseconds since the epoch. Asks Redis if the last reply is older than `GOOD_FOR_MS`. A step back takes effect
   * only with `observe`, once the deadlines are moved: the deadline of a check created before that would be moved too.
   */
  readonly now: (redis: Redis) => Promise<number>;
  /**
   * Takes a time in a reply of Redis. After a step back it must not be called before the deadlines are moved.
   *
   * @param redisMs time in the reply, milliseconds since the epoch
   * @param sentAt `performance.now()` before the command
   */
  readonly observe: (redisMs: number, sentAt: number) => void;
}

export function createRedisClock(): RedisClock {
  const clock = createRemoteClock(GOOD_FOR_MS);
  let observedAt = Number.NEGATIVE_INFINITY;

  const observe = (redisMs: number, sentAt: number): void => {
    observedAt = performance.now();
    clock.observe(redisMs, sentAt);
  };
  return {
    observe,
    now: async (redis) => {
      if (performance.now() - observedAt > GOOD_FOR_MS) {
        const sentAt = performance.now();
        const redisMs = msOfTimeReply(await redis.time());
        const isStepBack = clock.hasReply() && redisMs <= clock.now() - (performance.now() - sentAt) - CLOCK_STEP_MS;
        if (!isStepBack) observe(redisMs, sentAt);
      }
      return clock.now();
    },
  };
}
