/** Concurrent takes without jobs: one waits while the reply of the other travels. */
export const IDLE = 2;
const WIDEST = 16;
/**
 * Above this round-trip time, each job doubles the concurrent takes, up to `WIDEST`: jobs may arrive faster than the
 * next take.
 */
const NEAR_MS = 2;

/** The limit of concurrent takes. */
export interface TakeWidth {
  readonly now: () => number;
  /**
   * To be called with each reply. A job doubles the limit, up to `WIDEST`, if the round trip takes more than `NEAR_MS`;
   * any other reply resets the limit to `IDLE`.
   */
  readonly answered: (hasJob: boolean) => void;
}

/** @param rttMs the round trip to Redis, milliseconds */
export function createTakeWidth(rttMs: () => number): TakeWidth {
  let width = IDLE;
  return {
    now: () => width,
    answered: (hasJob) => {
      width = hasJob && rttMs() > NEAR_MS ? Math.min(width * 2, WIDEST) : IDLE;
    },
  };
}
