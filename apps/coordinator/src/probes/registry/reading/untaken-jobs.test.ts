import { LONGEST_CHECK_MS } from '@vantage/contract';
import { describe, expect, it } from '@jest/globals';

import { createUntakenJobs, type JobsReading } from './untaken-jobs.ts';

/** Reads at intervals of one second. */
function read(readings: readonly Partial<JobsReading>[]): readonly boolean[] {
  let now = 0;
  const jobs = createUntakenJobs(() => now);
  return readings.map((reading) => {
    now += 1_000;
    return jobs.note('fra-1', { oldest: null, instance: 'x', taken: 5, hasFreePlaces: true, ...reading });
  });
}

const times = (count: number, reading: Partial<JobsReading> = {}): readonly Partial<JobsReading>[] =>
  Array.from({ length: count }, () => reading);

const waits = { oldest: 'a' };
/** An agent of a release that does not count taken jobs. */
const uncounted = { taken: undefined };

describe('a probe that takes no jobs', () => {
  it.each([
    ['a job waited for six seconds though places are free', 7, times(20, waits)],
    [
      'its deadline removed each job before it had waited for long',
      13,
      Array.from({ length: 20 }, (_, second) => ({ oldest: second % 3 === 2 ? null : `job-${second}` })),
    ],
    ['all of its places were taken for longer than a check lasts', 106, times(110, { ...waits, hasFreePlaces: false })],
    ['the same job waited, if it does not count them', 7, times(20, { ...waits, ...uncounted })],
  ])('is noticed when %s', (_why, seconds, readings) => {
    const seen = read(readings);

    expect(seen.indexOf(true) + 1).toBeGreaterThanOrEqual(seconds);
    expect(seen.indexOf(true) + 1).toBeLessThanOrEqual(seconds + 7);
  });

  it.each([
    ['takes each job, and is always given another', times(20).map((_, taken) => ({ oldest: 'b', taken }))],
    ['takes a job now and then of many', times(40).map((_, second) => ({ ...waits, taken: Math.floor(second / 5) }))],
    ['takes each job, and does not count them', times(20).map((_, job) => ({ oldest: `${job}`, ...uncounted }))],
    ['is full of the longest checks', times(LONGEST_CHECK_MS / 1_000 + 5, { ...waits, hasFreePlaces: false })],
    ['was full until a moment ago', [...times(60, { ...waits, hasFreePlaces: false }), ...times(5, waits)]],
    ['has nothing to take', times(200)],
    ['took the job at last', [...times(6, waits), ...times(20, { taken: 6 })]],
    ['was restarted meanwhile', [...times(6, waits), ...times(6, { ...waits, instance: 'y' })]],
  ])('is not one that %s', (_why, readings) => {
    expect(read(readings)).not.toContain(true);
  });

  it('is remembered for a minute, as no job may come by which it could prove the contrary', () => {
    const seen = read([...times(7, waits), ...times(61)]);

    expect(seen.slice(6, -2)).not.toContain(false);
    expect(seen.at(-1)).toBe(false);
  });

  it('is trusted at once when it takes a job', () => {
    expect(read([...times(7, waits), { taken: 6 }]).slice(-2)).toEqual([true, false]);
  });

  it('is forgotten when it is removed', () => {
    const jobs = createUntakenJobs();
    for (const probe of ['fra-1', 'nyc-1']) {
      jobs.note(probe, { oldest: null, instance: 'x', taken: 5, hasFreePlaces: true });
    }

    jobs.forget('fra-1');

    expect(jobs.size()).toBe(1);
  });
});
