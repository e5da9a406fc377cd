import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';

import type { WallTime } from '../libc.ts';
import { arrivalClock } from './arrival-clock.ts';

/** A minute after the start of the process; every look at the clock takes 0.001 ms, whatever the machine does. */
let nowMs = 60_000;

beforeEach(() => {
  jest.spyOn(performance, 'now').mockImplementation(() => (nowMs += 0.001));
});

afterEach(() => {
  jest.restoreAllMocks();
});

/** A wall clock that may be set. */
function wallClock(): { readonly wallClock: () => WallTime; setMs: (byMs: number) => void } {
  let offsetMs = 1_800_000_000_000;
  return {
    wallClock: () => {
      const wallMs = performance.now() + offsetMs;
      const seconds = Math.floor(wallMs / 1_000);
      return { seconds, nanoseconds: (wallMs - seconds * 1_000) * 1_000_000 };
    },
    setMs: (byMs) => void (offsetMs += byMs),
  };
}

describe('the arrival of a packet', () => {
  it('has the time at which the kernel stamped it', () => {
    const clock = wallClock();
    const arrivals = arrivalClock(clock);
    const { seconds, nanoseconds } = clock.wallClock();
    const atMs = performance.now();
    const { receivedMs, clock: by } = arrivals()({ seconds: seconds - 2, nanoseconds });

    expect(by).toBe('kernel');
    expect(receivedMs - (atMs - 2_000)).toBeCloseTo(0, 0);
  });

  it.each([2_000, -2_000])('has the time at which it is read if the wall clock was set by %i ms', (byMs) => {
    const clock = wallClock();
    const arrivals = arrivalClock(clock);
    const stamp = clock.wallClock();
    clock.setMs(byMs);
    const first = arrivals()(stamp);

    expect(first.clock).toBe('process');
    expect(arrivals()(clock.wallClock()).clock).toBe('kernel');
  });
});
