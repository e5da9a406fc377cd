import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { useStallingClock, type StallingClock } from '@vantage/test-support/stalling-clock';

import { watchStandstill } from './watch-standstill.ts';

/** Interval of the watch, which is not counted as part of a stall. */
const LOOKS_EVERY_MS = 50;

describe('the standstills of a process', () => {
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
    [[60, 90], { stoodMs: 0, heldUpMs: 0 }],
    [[200, 300], { stoodMs: 0, heldUpMs: 500 }],
    [[200, 2_000], { stoodMs: 2_000, heldUpMs: 2_200 }],
  ])('are summed from a second on, and short ones apart: %j', (times, { stoodMs, heldUpMs }) => {
    const watch = watchStandstill();
    standStill(...times);
    const stood = watch.end();

    const tolerance = times.length * LOOKS_EVERY_MS;
    expect(stood.stoodMs).toBeLessThanOrEqual(stoodMs);
    expect(stood.stoodMs).toBeGreaterThanOrEqual(stoodMs - tolerance);
    expect(stood.heldUpMs).toBeLessThanOrEqual(heldUpMs);
    expect(stood.heldUpMs).toBeGreaterThanOrEqual(heldUpMs - tolerance);
  });

  it('count among the short ones from the beginning of the measurement on', () => {
    const watch = watchStandstill();
    standStill(700, 2_000);
    watch.measurementBegins();
    const { stoodMs, heldUpMs } = watch.end();

    expect(stoodMs).toBeGreaterThan(1_900);
    expect(heldUpMs).toBe(0);
  });
});
