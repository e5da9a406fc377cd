import { inTime } from '@vantage/timers';

import { StoreUnavailable } from '../redis/store-errors.ts';

/**
 * Time that a request may wait for Redis unless its handler asks for more: the count for the rate limit and the handler
 * share it. With a margin for sending the answer, that makes less than two seconds.
 */
const BUDGET_MS = 1_850;
/** Minimum for the handler, after a stall of the process has used up the budget. */
const LEAST_MS = 500;

/** Bounds the total time that a request waits for Redis. */
export interface StoreBudget {
  /** Restarts the budget: the transfer of a body does not count. */
  readonly restart: () => void;
  /**
   * @param moreMs additional time, such as a wait that the client requested
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
