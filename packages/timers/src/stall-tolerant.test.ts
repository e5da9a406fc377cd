import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';

import { useStallingClock, type StallingClock } from '@vantage/test-support/stalling-clock';
import { stallTolerantTimeout } from './stall-tolerant.ts';

let ran: number;
let clock: StallingClock;
const run = (): void => {
  ran += 1;
};

describe('a timeout that tolerates stalls', () => {
  beforeEach(() => {
    ran = 0;
    clock = useStallingClock();
  });

  afterEach(() => {
    clock.restore();
  });

  it('ends when its time is up, once', () => {
    stallTolerantTimeout(1_100, run);
    jest.advanceTimersByTime(1_099);
    const before = ran;
    jest.advanceTimersByTime(10_000);

    expect([before, ran]).toEqual([0, 1]);
  });

  it('can be called off', () => {
    const cancel = stallTolerantTimeout(1_100, run);
    jest.advanceTimersByTime(1_000);
    cancel();
    jest.advanceTimersByTime(10_000);

    expect(ran).toBe(0);
  });

  it('loses no more than a slice to a time in which the process stood still', () => {
    stallTolerantTimeout(1_000, run);
    clock.standStill(1_200);
    jest.advanceTimersByTime(749);
    const before = ran;
    jest.advanceTimersByTime(1);

    expect([before, ran]).toEqual([0, 1]);
  });

  it('is given some time again where its end was held up', () => {
    stallTolerantTimeout(100, run);
    clock.standStill(1_000);
    jest.advanceTimersByTime(499);
    const before = ran;
    jest.advanceTimersByTime(1);

    expect([before, ran]).toEqual([0, 1]);
  });

  it('lets what came be read first where the process stood still until after its end', () => {
    stallTolerantTimeout(100, run);
    clock.standStill(60_000);
    const before = ran;
    jest.advanceTimersByTime(1);

    expect([before, ran]).toEqual([0, 1]);
  });

  it('is given no more than two seconds again, however often it is held up', () => {
    const startedAt = performance.now();
    stallTolerantTimeout(100, run);
    while (ran === 0) clock.standStill(60);

    expect(performance.now() - startedAt).toBeGreaterThan(1_500);
    expect(performance.now() - startedAt).toBeLessThan(3_000);
  });
});
