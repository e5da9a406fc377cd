import { inTime } from '@vantage/timers';

import { StoreUnavailable } from '../redis/store-errors.ts';

/** A caller is told within two seconds that the store does not answer: the count of its limit and the answer together. */
const BUDGET_MS = 1_850;
/** What is left where all that came before took longer than it can, unless the machine stood still. */
const LEAST_MS = 500;

/** The time that one request may wait for the store in all. */
export interface StoreBudget {
  /** The request has arrived as a whole: what it took to arrive does not count. */
  readonly restart: () => void;
  /**
   * @param moreMs what the caller asked to wait besides
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
