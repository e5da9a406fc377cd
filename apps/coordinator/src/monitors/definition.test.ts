import { describe, expect, it } from '@jest/globals';

import { firstTickAfter, nextTickAfter, readAlarm, readInterval, tickAfterMissed } from './definition.ts';

const minute = { name: 'web', everyMs: 60_000 };
const NOW = 1_800_000_000_123;

describe('an interval', () => {
  it.each([
    ['the shortest', '10s', 10_000],
    ['minutes', '5m', 300_000],
    ['the longest', '1d', 86_400_000],
    ['shorter than ten seconds', '9s', undefined],
    ['longer than a day', '25h', undefined],
  ])('%s', (_reason, text, expected) => {
    expect(readInterval(text)).toBe(expected);
  });
});

describe('an alarm', () => {
  it('has defaults', () => {
    expect(readAlarm({})).toEqual({ failing: 1, of: 2, networks: 1, countries: 1, ticks: 2 });
  });

  it('cannot want more probes than there are', () => {
    expect(readAlarm({ when: '3 of 2' })).toBeUndefined();
  });
});

describe('the ticks of monitors', () => {
  it('are spread over the interval by the name', () => {
    const offsets = Array.from({ length: 600 }, (_, index) => {
      const first = firstTickAfter(NOW, { name: `monitor-${index}`, everyMs: 60_000 });
      expect(first).toBeGreaterThan(NOW);
      expect(first).toBeLessThanOrEqual(NOW + 60_000);
      return Math.floor((first % 60_000) / 6_000);
    });
    const perTenth = Array.from({ length: 10 }, (_, tenth) => offsets.filter((one) => one === tenth).length);

    expect(Math.min(...perTenth)).toBeGreaterThan(30);
  });

  it('are at the same places of the interval whenever a coordinator starts', () => {
    const first = firstTickAfter(NOW, minute);

    expect(firstTickAfter(first - 1, minute)).toBe(first);
    expect(firstTickAfter(first, minute)).toBe(first + 60_000);
    expect((firstTickAfter(NOW + 7_654_321, minute) - first) % 60_000).toBe(0);
  });

  it.each([
    ['one that started in time', 500, 60_000],
    ['one that started by a clock that is read as slightly too early', -300, 60_000],
    ['one that started late', 59_000, 60_000],
    ['one that was taken up in the next interval', 65_000, 60_000],
    ['one that was taken up when the next one was missed', 85_000, 120_000],
    ['one after an outage goes on at the next place', 600_500, 660_000],
    ['one after a step of the clock to the past', -3_600_000, -3_540_000],
  ])('follow each other: %s', (_reason, startedAfter, expected) => {
    const at = firstTickAfter(NOW, minute);

    expect(nextTickAfter(at, at + startedAfter, minute) - at).toBe(expected);
  });

  it('return to the places of the interval after one that was made up for', () => {
    const hour = { name: 'web', everyMs: 3_600_000 };
    const first = firstTickAfter(NOW, hour);

    expect(nextTickAfter(first - 1_234_567, first - 1_234_000, hour)).toBe(first);
  });

  it('are made up for within a minute, spread over it, if they were missed', () => {
    const times = Array.from({ length: 600 }, (_, index) =>
      tickAfterMissed(NOW, { name: `monitor-${index}`, everyMs: 86_400_000 }),
    );
    const perTenth = Array.from(
      { length: 10 },
      (_, tenth) => times.filter((at) => at > NOW + tenth * 6_000 && at <= NOW + (tenth + 1) * 6_000).length,
    );

    expect(Math.min(...perTenth)).toBeGreaterThan(30);
    expect(perTenth.reduce((sum, one) => sum + one)).toBe(600);
  });

  it.each([
    ['up to a minute goes on at the next place', 45_000],
    ['more than a minute does so if that is sooner', 61_000],
  ])('of an interval of %s', (_reason, everyMs) => {
    const monitor = { name: 'web', everyMs };
    const first = firstTickAfter(NOW, monitor);

    expect(tickAfterMissed(first - 1, monitor)).toBe(first);
    expect(tickAfterMissed(NOW, monitor)).toBeLessThanOrEqual(first);
  });
});
