import { describe, expect, it } from '@jest/globals';

import { readConfig, type Config } from './config.ts';
import { planArrivals } from './plan.ts';

function config(flags: readonly string[] = []): Config {
  return readConfig(
    ['--target', '192.0.2.1', '--rate', '100', '--duration', '60', '--warm-up', '10', ...flags],
    {},
  ) as Config;
}

describe('the plan of a load', () => {
  it('is the same for the same seed, and another for another', () => {
    const first = [...planArrivals(config())];

    expect([...planArrivals(config())]).toEqual(first);
    expect([...planArrivals(config(['--seed', '2']))]).not.toEqual(first);
  });

  it('has as many arrivals as its rate says, at random intervals and none in the time of warming up that counts', () => {
    const arrivals = [...planArrivals(config())];
    const gaps = arrivals.slice(1).map(({ atMs }, index) => atMs - arrivals[index]!.atMs);

    expect(arrivals.length).toBeGreaterThan(6_700);
    expect(arrivals.length).toBeLessThan(7_300);
    // In a Poisson process 63 % of the gaps are shorter than the mean.
    expect(gaps.filter((gap) => gap < 10).length / gaps.length).toBeCloseTo(0.63, 1);
    expect(arrivals.filter(({ counts }) => counts).every(({ atMs }) => atMs >= 10_000)).toBe(true);
    expect(arrivals.filter(({ counts }) => !counts).every(({ atMs }) => atMs < 10_000)).toBe(true);
  });

  it('mixes the types by their weights', () => {
    const arrivals = [...planArrivals(config(['--mix', 'ping=3,http=1']))];
    const pings = arrivals.filter(({ request }) => request.type === 'ping');

    expect(pings.length / arrivals.length).toBeCloseTo(0.75, 1);
  });

  it('knows what each check is granted, its options being the standard ones', () => {
    const budgets = new Map(
      [...planArrivals(config(['--mix', 'ping=1,tcp=1,http=1']))].map(({ request, budgetMs }) => [
        request.type,
        budgetMs,
      ]),
    );

    expect(budgets.get('http')).toBe(15_000);
    for (const budgetMs of budgets.values()) expect(budgetMs).toBeGreaterThan(0);
    expect(budgets.size).toBe(3);
  });
});
