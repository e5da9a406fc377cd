import { inTime } from '@vantage/timers';

import { StoreUnavailable } from '../redis/store-errors.ts';

/**
 * Unless this process stalls, a client that asks for no longer wait gets an error within two seconds if Redis does not
 * reply; counting the request against its rate limit and the handler share this time.
 */
const BUDGET_MS = 1_850;
/** Minimum for the handler, after a stall of the process has used up the budget. */
const LEAST_MS = 500;

/** Bounds the total time that a request waits for Redis. */
export interface StoreBudget {
  /** Called when the request is complete: its transfer time does not count. */
  readonly restart: () => void;
  /**
   * @param moreMs additional wait that the client requested
   * @throws StoreUnavailable when the time is up
   */
  readonly within: <T>(work: Promise<T>, moreMs?: number) => Promise<T>;
}

export function createStoreBudget(): StoreBudget {
  let endsAt = performance.now() + BUDGET_MS;
  return {
    restart: () => {
      endsAt = performance.now() + BUDGET_MS;
    },
    within: (work, moreMs = 0) =>
      inTime(work, Math.max(LEAST_MS, endsAt - performance.now()) + moreMs, () => {
        return new StoreUnavailable('the time that a request may wait for the store is up');
      }),
  };
}
