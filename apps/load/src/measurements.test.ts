import { describe, expect, it } from '@jest/globals';

import { createMeasurements, createTimes } from './measurements.ts';
import { plot } from './plot.ts';

describe('the times of a load', () => {
  it('are kept to three digits, the longest as it was', () => {
    const times = createTimes();

    for (const ms of [0.25, 1.5, 20.345, 10_000.111]) times.record(ms);

    const { count, p50, p999, max, percentiles } = times.summary();
    expect(count).toBe(4);
    expect(p50).toBeCloseTo(1.5, 2);
    expect(max).toBe(10_000.111);
    expect(percentiles.at(-1)).toEqual([100, 10_000.111]);
    expect(p999).toBeLessThanOrEqual(max);
  });

  it('are none where nothing was recorded', () => {
    expect(createTimes().summary()).toMatchObject({ count: 0, mean: 0, p99: 0, max: 0 });
  });

  it('refuse what is no number, which would spoil them all', () => {
    const times = createTimes();
    times.record(5);

    expect(() => times.record(Number.NaN)).toThrow('not a number');
    expect(times.summary()).toMatchObject({ count: 1, max: 5 });
  });
});

describe('the seconds of a load', () => {
  it('are all there, and tell a second without an answer from one with quick answers', () => {
    const measurements = createMeasurements();
    const first = measurements.second(10);
    first.started += 1;
    for (let ms = 1; ms <= 100; ms += 1) first.post.push(ms);
    measurements.second(2_500).started += 1;

    expect(measurements.seconds()).toMatchObject([
      { second: 0, started: 1, postP99: 99, completionP99: null },
      { second: 1, started: 0, postP99: null },
      { second: 2, started: 1, postP99: null },
    ]);
  });
});

describe('a plot', () => {
  const draw = (points: readonly (readonly [number, number | null])[]): string =>
    plot({ title: 't', xLabel: 'x', yLabel: 'y', series: [{ name: 's', color: '#000', points }] });

  it('breaks a curve where there is no value, and shows a value that stands alone', () => {
    const paths = draw([
      [0, 1],
      [1, 1],
      [2, null],
      [3, 1],
      [4, null],
    ]);

    const [, curve = ''] = /stroke-linecap="round" d="([^"]*)"/.exec(paths) ?? [];
    expect(curve.match(/[MLh]/g)).toEqual(['M', 'L', 'M', 'h']);
  });

  it('has room for the seconds of a day', () => {
    const day = Array.from({ length: 86_400 }, (_, second) => [second, second % 7] as const);

    expect(draw(day).length).toBeGreaterThan(86_400);
  });
});
