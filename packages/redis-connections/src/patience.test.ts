import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';

import { afterPatience } from './patience.ts';

let ran: number;
/** How long the process has stood still in all, milliseconds. */
let stoodStill: number;
const run = (): void => {
  ran += 1;
};

/** The process stands still until after the next timer is due, which then fires late. */
function standStill(milliseconds: number): void {
  stoodStill += milliseconds;
  jest.advanceTimersToNextTimer();
}

describe('a patience', () => {
  beforeEach(() => {
    [ran, stoodStill] = [0, 0];
    jest.useFakeTimers();
    const now = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => now() + stoodStill);
  });

  afterEach(() => {
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  it('ends when its time is up, once', () => {
    afterPatience(1_100, run);
    jest.advanceTimersByTime(1_099);
    const before = ran;
    jest.advanceTimersByTime(10_000);

    expect([before, ran]).toEqual([0, 1]);
  });

  it('can be called off', () => {
    const cancel = afterPatience(1_100, run);
    jest.advanceTimersByTime(1_000);
    cancel();
    jest.advanceTimersByTime(10_000);

    expect(ran).toBe(0);
  });

  it('loses no more than a slice to a time in which the process stood still', () => {
    afterPatience(1_000, run);
    standStill(1_200);
    jest.advanceTimersByTime(749);
    const before = ran;
    jest.advanceTimersByTime(1);

    expect([before, ran]).toEqual([0, 1]);
  });

  it('is given some time again where its end was held up', () => {
    afterPatience(100, run);
    standStill(1_000);
    jest.advanceTimersByTime(499);
    const before = ran;
    jest.advanceTimersByTime(1);

    expect([before, ran]).toEqual([0, 1]);
  });

  it('lets what came be read first where the process stood still until after its end', () => {
    afterPatience(100, run);
    standStill(60_000);
    const before = ran;
    jest.advanceTimersByTime(1);

    expect([before, ran]).toEqual([0, 1]);
  });

  it('is given no more than two seconds again, however often it is held up', () => {
    const startedAt = performance.now();
    afterPatience(100, run);
    while (ran === 0) standStill(60);

    expect(performance.now() - startedAt).toBeGreaterThan(1_500);
    expect(performance.now() - startedAt).toBeLessThan(3_000);
  });
});
