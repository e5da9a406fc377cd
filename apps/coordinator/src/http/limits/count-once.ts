import { stallTolerantTimeout } from '@vantage/timers';

import type { CountOptions } from './rate-limit.ts';

/** A request that has not been counted with its targets within this time is counted without them. */
const COUNT_CLIENT_AFTER_MS = 1_250;

export interface RequestCount {
  /**
   * Counts the request with its targets; false if that fails, as when a limit refuses it, or if it was counted before.
   * Never rejects.
   */
  readonly admit: (asked: Partial<CountOptions>) => Promise<boolean>;
  /**
   * Counts the request without targets, unless it was counted before.
   *
   * @throws HttpProblem 429
   */
  readonly counted: () => Promise<void>;
}

/** Counts a request exactly once, whatever its outcome. */
export function countOnce(count: (asked: Partial<CountOptions>) => Promise<void>): RequestCount {
  let counting: Promise<PromiseSettledResult<void>> | undefined;
  const start = (asked: Partial<CountOptions>): Promise<PromiseSettledResult<void>> => {
    cancel();
    counting ??= settled(count(asked));
    return counting;
  };
  const cancel = stallTolerantTimeout(COUNT_CLIENT_AFTER_MS, () => void start({}));
  return {
    // A request that was already counted without its targets is not admitted.
    admit: async (asked) => counting === undefined && (await start(asked)).status === 'fulfilled',
    counted: async () => {
      const counted = await start({});
      if (counted.status === 'rejected') throw counted.reason;
    },
  };
}

/** Like `Promise.allSettled`, for one promise. */
export function settled<T>(promise: Promise<T>): Promise<PromiseSettledResult<T>> {
  return promise.then(
    (value) => ({ status: 'fulfilled', value }),
    (reason: unknown) => ({ status: 'rejected', reason }),
  );
}

/** @throws the reason of a rejection */
export function fulfilled<T>(outcome: PromiseSettledResult<T>): T {
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
}
