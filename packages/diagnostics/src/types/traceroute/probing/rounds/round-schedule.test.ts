import { describe, expect, it } from '@jest/globals';

import { roundSchedule } from './round-schedule.ts';

describe('the schedule of rounds', () => {
  it.each([
    [1, 30],
    [31, 60],
  ])('spreads too few packets evenly over the rounds, for hops %i to %i', (first, last) => {
    const rounds = 11;
    const schedule = roundSchedule(first, last, rounds, 10 + 29 * 5);
    const counts = [...Map.groupBy(schedule, ({ round }) => round).values()].map(({ length }) => length);
    const perHop = [...Map.groupBy(schedule, ({ ttl }) => ttl)].map(([ttl, { length }]) => [ttl === last, length]);

    expect(counts).toHaveLength(rounds - 1);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
    expect(new Set(perHop.map(String))).toEqual(new Set(['false,5', 'true,10']));
  });
});
