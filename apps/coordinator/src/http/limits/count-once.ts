import { stallTolerantTimeout } from '@vantage/timers';

import type { LimitAdmission } from '../../checks/checks.ts';
import type { CountOptions } from './rate-limit.ts';

/** A request that has not been counted with its targets within this time is counted without them. */
const COUNT_CLIENT_AFTER_MS = 1_250;

export interface RequestCount {
  /**
   * Counts the request with its targets. It is not admitted if that fails, as when a limit refuses it, or if it was
   * counted before.
   */
  readonly admit: (asked: Partial<CountOptions>) => LimitAdmission;
  /**
   * Counts the request without targets, unless it was counted before.
   *
   * @throws HttpProblem 429
   */
  readonly counted: () => Promise<void>;
}

/** Counts a request exactly once, whatever its outcome. */
export function countOnce(count: (asked: Partial<CountOptions>) => Promise<void>): RequestCount {
  let counting: Counting | undefined;
  const start = (asked: Partial<CountOptions>): Counting => {
    cancel();
    counting ??= beginCount((onLikely) => count({ ...asked, onLikely }));
    return counting;
  };
  const cancel = stallTolerantTimeout(COUNT_CLIENT_AFTER_MS, () => void start({}));
  return {
    // A request that was already counted without its targets is not admitted.
    admit: (asked) => (counting === undefined ? start(asked) : NOT_ADMITTED),
    counted: async () => fulfilled(await start({}).counted),
  };
}

const NOT_ADMITTED: LimitAdmission = { isLikely: Promise.resolve(false), isAdmitted: Promise.resolve(false) };

/** A request that is being counted; `counted` has its refusal. */
export interface Counting extends LimitAdmission {
  readonly counted: Promise<PromiseSettledResult<void>>;
}

/** @param count counts a request; calls `onLikely` as `CountOptions` says, or never */
export function beginCount(count: (onLikely: () => void) => Promise<void>): Counting {
  const likely = Promise.withResolvers<boolean>();
  const counted = settled(count(() => likely.resolve(true)));
  const isAdmitted = counted.then(({ status }) => status === 'fulfilled');
  void isAdmitted.then(() => likely.resolve(false));
  return { isLikely: likely.promise, isAdmitted, counted };
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
