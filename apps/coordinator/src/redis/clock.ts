import type { Redis } from 'ioredis';

/** An estimate of Redis' clock is good for this long; after that it is asked again. */
const GOOD_FOR_MS = 5_000;

/**
 * The clock of Redis, which all deadlines are told by: coordinators and agents need not agree on the time of day. Carried
 * forward by the monotonic clock between the answers that Redis gives, so that no step of the local clock is seen.
 */
export interface RedisClock {
  /** Milliseconds since the epoch. Asks Redis where the last answer is old. */
  readonly now: (redis: Redis) => Promise<number>;
  /**
   * Takes a time that Redis told.
   *
   * @param redisMs what it told, milliseconds since the epoch
   * @param sentAt `performance.now()` before the command
   */
  readonly observe: (redisMs: number, sentAt: number) => void;
}

export function createRedisClock(): RedisClock {
  let offsetMs = 0;
  let observedAt = Number.NEGATIVE_INFINITY;
  /** When the estimate was made, and how long the answer took that it was made from. */
  let estimate = { madeAt: Number.NEGATIVE_INFINITY, roundTripMs: Number.POSITIVE_INFINITY };

  /** An answer that was long on its way says little: a better estimate is kept for as long as it is good and not contradicted. */
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
        observe(Number(seconds) * 1_000 + Number(microseconds) / 1_000, sentAt);
      }
      return Math.round(performance.now() + offsetMs);
    },
  };
}
