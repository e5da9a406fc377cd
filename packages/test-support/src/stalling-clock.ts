import { jest } from '@jest/globals';

/** Fake timers, and simulated stalls of the process, after which a due timer fires late. */
export interface StallingClock {
  readonly standStill: (milliseconds: number) => void;
  /** Restores the real functions. */
  readonly restore: () => void;
}

export function useStallingClock(): StallingClock {
  /** Total duration of stalls, milliseconds. */
  let stoodStill = 0;
  jest.useFakeTimers();
  const now = performance.now.bind(performance);
  jest.spyOn(performance, 'now').mockImplementation(() => now() + stoodStill);
  return {
    standStill: (milliseconds) => {
      stoodStill += milliseconds;
      jest.advanceTimersToNextTimer();
    },
    restore: () => {
      jest.restoreAllMocks();
      jest.useRealTimers();
    },
  };
}
