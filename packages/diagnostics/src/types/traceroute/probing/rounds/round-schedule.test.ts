import { describe, expect, it } from '@jest/globals';

import { roundSchedule } from './round-schedule.ts';

describe('the schedule of rounds', () => {
  it.each([4, 5, 8, 13, 20])(
    'sends the packets of each hop both ways of a balancer that takes turns, %i hops',
    (last) => {
      const schedule = roundSchedule(1, last, 41, 1_000);
      for (let balancer = 1; balancer < last; balancer += 1) {
        const passing = schedule.filter(({ ttl }) => ttl > balancer);
        for (let hop = balancer + 1; hop <= last; hop += 1) {
          const own = passing.flatMap(({ ttl }, number) => (ttl === hop ? [number % 2] : []));
          const first = own.filter((way) => way === 0).length;
          expect([balancer, hop, own.length]).toEqual([balancer, hop, 40]);
          expect(Math.min(first, 40 - first)).toBeGreaterThanOrEqual(8);
        }
      }
    },
  );

  it('leaves the packets of the last hop a second apart, and begins each round with the first hop', () => {
    const schedule = roundSchedule(1, 7, 21, 1_000);
    const times = (hop: number): readonly number[] =>
      schedule.flatMap(({ ttl, dueMs }) => (ttl === hop ? [dueMs] : []));

    for (const hop of [1, 7])
      expect(
        times(hop)
          .slice(1)
          .map((at, index) => Math.round(at - times(hop)[index]!)),
      ).toEqual(Array(19).fill(1_000));
    expect(schedule.map(({ dueMs }) => dueMs)).toEqual(schedule.map(({ dueMs }) => dueMs).toSorted((a, b) => a - b));
    expect(schedule.map(({ round }) => round)).toEqual(schedule.map(({ round }) => round).toSorted((a, b) => a - b));
  });

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
