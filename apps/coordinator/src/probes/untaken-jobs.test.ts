import { describe, expect, it } from '@jest/globals';

import { createUntakenJobs } from './untaken-jobs.ts';

/** Readings a second apart: the oldest waiting job of each, and whether places are free. */
function read(readings: readonly (readonly [string | null, boolean?])[]): readonly boolean[] {
  let now = 0;
  const jobs = createUntakenJobs(() => now);
  return readings.map(([oldest, hasFreePlaces = true]) => {
    now += 1_000;
    return jobs.note('fra-1', oldest, hasFreePlaces);
  });
}

const same = (times: number, hasFreePlaces = true): readonly (readonly [string, boolean])[] =>
  Array.from({ length: times }, () => ['a', hasFreePlaces] as const);

describe('a probe that takes no jobs', () => {
  it('is noticed when a job has waited for four seconds though places are free', () => {
    expect(read(same(5))).toEqual([false, false, false, false, true]);
  });

  it.each([
    ['takes each job, and is always given another', [['a'], ['b'], ['c'], ['d'], ['e'], ['f']] as const],
    ['is full', same(8, false)],
    ['was full until a moment ago', [...same(6, false), ...same(3)]],
    ['has nothing to take', [[null], [null], [null], [null], [null]] as const],
    ['took the job at last', [...same(4), [null], ...same(4)] as const],
  ])('is not one that %s', (_why, readings) => {
    expect(read(readings)).not.toContain(true);
  });

  it('is remembered for a minute after the deadline removed the job', () => {
    const seen = read([...same(5), ...Array.from({ length: 61 }, () => [null] as const)]);

    expect(seen.slice(4, -2).every(Boolean)).toBe(true);
    expect(seen.at(-1)).toBe(false);
  });
});
