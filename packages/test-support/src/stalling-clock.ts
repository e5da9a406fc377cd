import { jest } from '@jest/globals';

/** Fake timers, and a process that can stand still until after the next of them is due, which then fires late. */
export interface StallingClock {
  readonly standStill: (milliseconds: number) => void;
  /** Restores the real functions. */
  readonly restore: () => void;
}

export function useStallingClock(): StallingClock {
  /** In all, milliseconds. */
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
