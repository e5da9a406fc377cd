import { beforeEach, describe, expect, it } from '@jest/globals';

import { createReadingTurns, MOST_IN_ROTATION, type LastReading, type ReadingTurns } from './reading-turns.ts';

let now: number;
let turns: ReadingTurns;
let last: LastReading;

beforeEach(() => {
  now = 100_000;
  turns = createReadingTurns(() => now);
  last = { atMs: now, endsAtMs: now + 12_000, isSettled: true, entries: 0 };
});

const isDueAfter = (milliseconds: number, more: Partial<LastReading> = {}): boolean => {
  now += milliseconds;
  return turns.due(['fra-1'], () => ({ ...last, ...more })).has('fra-1');
};

describe('a probe', () => {
  it('is read at once if it is not known yet', () => {
    expect(turns.due(['fra-1'], () => undefined)).toEqual(new Set(['fra-1']));
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

describe('more probes than a refresh reads', () => {
  const probes = Array.from({ length: 2.5 * MOST_IN_ROTATION }, (_, index) => `sim-${index}`);
  const isRead = new Map<string, LastReading>();

  const refresh = (): ReadonlySet<string> => {
    now += 1_000;
    const due = turns.due(probes, (id) => isRead.get(id));
    for (const id of due) {
      isRead.set(id, { ...last, atMs: now, endsAtMs: now + 60_000 });
      turns.wasRead(id, now);
    }
    return due;
  };

  beforeEach(() => {
    for (const id of probes) isRead.set(id, { ...last, endsAtMs: now + 60_000 });
    for (const id of probes) turns.noteActive(id, 600_000);
  });

  it('are read in rotation while all are active, so that none waits for others', () => {
    const sizes: number[] = [];
    const seen = new Map<string, number>();
    for (let round = 0; round < 5; round += 1) {
      const due = refresh();
      sizes.push(due.size);
      for (const id of due) seen.set(id, (seen.get(id) ?? 0) + 1);
    }

    expect(sizes).toEqual(Array.from({ length: 5 }, () => MOST_IN_ROTATION));
    expect(new Set(probes.map((id) => seen.get(id)))).toEqual(new Set([2]));
  });

  it.each<[string, () => void]>([
    ['one was added', () => void isRead.delete('sim-2400')],
    ['a heartbeat has ended', () => void isRead.set('sim-2400', { ...last, endsAtMs: now })],
    ['a stream has entries', () => void isRead.set('sim-2400', { ...last, endsAtMs: now + 60_000, entries: 1 })],
    ['a change was announced', () => turns.noteChanged('sim-2400')],
  ])('do not delay the read if %s', (_what, change) => {
    change();
    const due = refresh();

    expect([due.has('sim-2400'), due.size]).toEqual([true, MOST_IN_ROTATION + 1]);
  });
});
