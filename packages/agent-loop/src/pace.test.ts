import { describe, expect, it } from '@jest/globals';

import { createPace, type Pace } from './pace.ts';

/** A pace with a manual clock, in a process whose event-loop load the test sets. */
function paced(utilization = () => 1): {
  readonly pace: Pace;
  readonly results: (count: number, everyMs: number) => void;
} {
  let nowMs = 0;
  const pace = createPace(() => nowMs, utilization);
  return {
    pace,
    results: (count, everyMs) => {
      for (let result = 0; result < count; result += 1) {
        nowMs += everyMs;
        pace.noteRaised();
      }
    },
  };
}

describe('the pace of results', () => {
  it.each([
    ['one after another, at a low rate', 100, 10, false],
    ['a burst of ten', 10, 0, false],
    ['two hundred a second', 16, 5, true],
  ])('is judged by the results before: %s', (_reason, count, everyMs, dense) => {
    const { pace, results } = paced();

    results(count, everyMs);
    pace.noteGathered(1);

    expect(pace.isDense()).toBe(dense);
  });

  it('stays dense while each wait gathers some, however slow the clock', () => {
    const { pace, results } = paced();
    results(16, 5);
    pace.noteGathered(1);

    for (let wait = 0; wait < 10; wait += 1) {
      results(3, 50);
      pace.noteGathered(3);
    }

    expect(pace.isDense()).toBe(true);
  });

  it.each([
    ['is idle for most of the time', 0.2, false],
    ['is busy', 0.6, true],
  ])('is dense by the work of the process: one that %s', (_reason, utilization, isDense) => {
    const { pace, results } = paced(() => utilization);

    results(16, 1);
    pace.noteGathered(1);

    expect(pace.isDense()).toBe(isDense);
  });

  it('is dense no longer when the process is idle again, however much a wait gathers', () => {
    let utilization = 0.9;
    const { pace, results } = paced(() => utilization);
    results(16, 1);
    pace.noteGathered(1);
    const before = pace.isDense();

    utilization = 0.2;
    pace.noteGathered(10);

    expect([before, pace.isDense()]).toEqual([true, false]);
  });

  it('tries waits ever more seldom with one caller who waits for each result', () => {
    const { pace, results } = paced();
    let waits = 0;
    for (let result = 0; result < 10_000; result += 1) {
      results(1, 3);
      pace.noteGathered(1);
      if (!pace.isDense()) continue;
      waits += 1;
    }

    expect(waits).toBeGreaterThan(0);
    expect(waits).toBeLessThan(20);
  });

  it('tries again soon after a wait that was worth it', () => {
    const { pace, results } = paced();
    for (let result = 0; result < 5_000; result += 1) {
      results(1, 3);
      pace.noteGathered(1);
    }
    while (!pace.isDense()) {
      results(1, 3);
      pace.noteGathered(1);
    }
    pace.noteGathered(5);
    pace.noteGathered(0);

    results(32, 3);
    pace.noteGathered(1);

    expect(pace.isDense()).toBe(true);
  });
});
