import { beforeEach, describe, expect, it } from '@jest/globals';

import { createReadingTurns, type LastReading, type ReadingTurns } from './reading-turns.ts';

let now: number;
let turns: ReadingTurns;
let last: LastReading;

beforeEach(() => {
  now = 100_000;
  turns = createReadingTurns(() => now);
  last = { atMs: now, endsAtMs: now + 12_000, isSettled: true };
});

const isDueAfter = (milliseconds: number, more: Partial<LastReading> = {}): boolean => {
  now += milliseconds;
  return turns.isDue('fra-1', { ...last, ...more });
};

describe('a probe', () => {
  it('is read at once if it is not known yet', () => {
    expect(turns.isDue('fra-1', undefined)).toBe(true);
  });

  it.each([
    ['in each turn while something may change without an announcement', 1, { isSettled: false }, true],
    ['seldom if not', 1, {}, false],
    ['after ten seconds, as announcements can be lost', 10_000, {}, true],
    ['when its heartbeat ends', 4_000, { endsAtMs: 104_000 }, true],
  ])('is read %s', (_when, milliseconds, more, isDue) => {
    expect(isDueAfter(milliseconds, more)).toBe(isDue);
  });

  it('is read in each turn for a time after it was given jobs', () => {
    turns.noteActive('fra-1', 5_000);
    turns.noteActive('fra-1', 1_000);

    expect([isDueAfter(4_999), isDueAfter(2)]).toEqual([true, false]);
  });

  it('is read when its agent announces a change, and once more if that came while it was being read', () => {
    turns.noteChanged('fra-1');
    const isDue = isDueAfter(10);
    const sentAtMs = now;
    now += 5;
    turns.noteChanged('fra-1');
    turns.wasRead('fra-1', sentAtMs);
    const isDueAgain = isDueAfter(5);
    turns.wasRead('fra-1', now);

    expect([isDue, isDueAgain, isDueAfter(5)]).toEqual([true, true, false]);
  });
});
