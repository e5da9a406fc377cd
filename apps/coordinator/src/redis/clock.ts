import type { Redis } from 'ioredis';

/** Validity of an estimate; then Redis is asked again. */
const GOOD_FOR_MS = 5_000;

/** A clock that went back by less, milliseconds, was not stepped: after a fail-over another server's clock counts. */
export const CLOCK_STEP_MS = 250;

/**
 * The clock of Redis, which decides all deadlines, so that coordinators and agents need no synchronised clocks. Between
 * replies it advances by the monotonic clock, so that steps of the local clock have no effect.
 */
export interface RedisClock {
  /**
   * Milliseconds since the epoch. Asks Redis where the last answer is old. A step back counts from `observe` on: a check that was
   * given the new time before the deadlines are moved would be moved with them.
   */
  readonly now: (redis: Redis) => Promise<number>;
  /**
   * Takes a time that Redis told; if it was stepped back, after the deadlines were moved.
   *
   * @param redisMs time in the reply, milliseconds since the epoch
   * @param sentAt `performance.now()` before the command
   */
  readonly observe: (redisMs: number, sentAt: number) => void;
}

export function createRedisClock(): RedisClock {
  let offsetMs = 0;
  let observedAt = Number.NEGATIVE_INFINITY;
  /** Time of the estimate, and round-trip time of the reply that it is based on. */
  let estimate = { madeAt: Number.NEGATIVE_INFINITY, roundTripMs: Number.POSITIVE_INFINITY };

  /**
   * The round-trip time bounds the error, so a better estimate is kept while it is valid and consistent with the reply.
   */
  const observe = (redisMs: number, sentAt: number): void => {
    observedAt = performance.now();
    const [least, most] = [redisMs - observedAt, redisMs - sentAt];
    const isGood = observedAt - estimate.madeAt <= GOOD_FOR_MS;
    const roundTripMs = observedAt - sentAt;
    if (isGood && estimate.roundTripMs < roundTripMs && least <= offsetMs && offsetMs <= most) return;
    offsetMs = (least + most) / 2;
    estimate = { madeAt: observedAt, roundTripMs };
  };
  return {
    observe,
    now: async (redis) => {
      if (performance.now() - observedAt > GOOD_FOR_MS) {
        const sentAt = performance.now();
        const [seconds, microseconds] = await redis.time();
        const redisMs = Number(seconds) * 1_000 + Number(microseconds) / 1_000;
        if (redisMs > sentAt + offsetMs - CLOCK_STEP_MS) observe(redisMs, sentAt);
      }
      return Math.round(performance.now() + offsetMs);
    },
  };
}
