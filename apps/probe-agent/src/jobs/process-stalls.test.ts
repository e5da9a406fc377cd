import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { useStallingClock, type StallingClock } from '@vantage/test-support/stalling-clock';

import { watchProcessStalls } from './process-stalls.ts';

/** Interval of the watch, which is not counted as part of a stall. */
const LOOKS_EVERY_MS = 50;

describe('the stalls of a process', () => {
  let clock: StallingClock;

  beforeEach(() => {
    clock = useStallingClock();
  });

  afterEach(() => {
    clock.restore();
  });

  /** Stalls for each of these times, in milliseconds, at intervals of half a second. */
  const standStill = (...times: readonly number[]): void => {
    for (const milliseconds of times) {
      jest.advanceTimersByTime(500);
      clock.standStill(milliseconds);
      jest.advanceTimersByTime(500);
    }
  };

  it.each([
    [[60, 90], { longStallsMs: 0, allStallsMs: 0 }],
    [[200, 300], { longStallsMs: 0, allStallsMs: 500 }],
    [[200, 2_000], { longStallsMs: 2_000, allStallsMs: 2_200 }],
  ])('are summed from a second on, and short ones apart: %j', (times, { longStallsMs, allStallsMs }) => {
    const watch = watchProcessStalls();
    standStill(...times);
    const stood = watch.end();

    const tolerance = times.length * LOOKS_EVERY_MS;
    expect(stood.longStallsMs).toBeLessThanOrEqual(longStallsMs);
    expect(stood.longStallsMs).toBeGreaterThanOrEqual(longStallsMs - tolerance);
    expect(stood.allStallsMs).toBeLessThanOrEqual(allStallsMs);
    expect(stood.allStallsMs).toBeGreaterThanOrEqual(allStallsMs - tolerance);
  });

  it('count among the short ones from the beginning of the measurement on', () => {
    const watch = watchProcessStalls();
    standStill(700, 2_000);
    watch.measurementBegins();
    const { longStallsMs, allStallsMs } = watch.end();

    expect(longStallsMs).toBeGreaterThan(1_900);
    expect(allStallsMs).toBe(0);
  });
});
