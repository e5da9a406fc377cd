import { describe, expect, it } from '@jest/globals';

import { createPace, type Pace } from './pace.ts';

/** A pace on a clock that the test moves. */
function paced(): { readonly pace: Pace; readonly jobs: (count: number, everyMs: number) => void } {
  let nowMs = 0;
  const pace = createPace(() => nowMs);
  return {
    pace,
    jobs: (count, everyMs) => {
      for (let job = 0; job < count; job += 1) {
        nowMs += everyMs;
        pace.noteStart();
      }
    },
  };
}

describe('the pace of jobs', () => {
  it.each([
    ['one after another, at a low rate', 100, 10, false],
    ['a burst of ten', 10, 0, false],
    ['two hundred a second', 16, 5, true],
  ])('is judged by the jobs before: %s', (_reason, count, everyMs, dense) => {
    const { pace, jobs } = paced();

    jobs(count, everyMs);
    pace.noteLook(1);

    expect(pace.isDense()).toBe(dense);
  });

  it('stays dense while each rest gathers some, however slow the clock', () => {
    const { pace, jobs } = paced();
    jobs(16, 5);
    pace.noteLook(1);

    for (let look = 0; look < 10; look += 1) {
      jobs(3, 50);
      pace.noteLook(3);
    }

    expect(pace.isDense()).toBe(true);
  });

  it('tries rests ever more seldom with one caller who waits for each result', () => {
    const { pace, jobs } = paced();
    let rests = 0;
    for (let job = 0; job < 10_000; job += 1) {
      jobs(1, 3);
      pace.noteLook(1);
      if (!pace.isDense()) continue;
      rests += 1;
    }

    expect(rests).toBeGreaterThan(0);
    expect(rests).toBeLessThan(20);
  });

  it('tries again soon after a rest that was worth it', () => {
    const { pace, jobs } = paced();
    for (let job = 0; job < 5_000; job += 1) {
      jobs(1, 3);
      pace.noteLook(1);
    }
    while (!pace.isDense()) {
      jobs(1, 3);
      pace.noteLook(1);
    }
    pace.noteLook(5);
    pace.noteLook(0);

    jobs(32, 3);
    pace.noteLook(1);

    expect(pace.isDense()).toBe(true);
  });
});
