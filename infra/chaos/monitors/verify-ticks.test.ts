import { expect, it } from '@jest/globals';
import type { Monitor } from '@vantage/contract';

import { verifyTicks } from './verify-ticks.ts';

const EVERY_MS = 10_000;
const BEGIN = Date.parse('2026-01-01T00:00:00Z');

/** A monitor that is ok when it is read, with one run per check id. */
function monitorOf(name: string, checkIds: readonly string[]): Monitor {
  const runs = checkIds.map((checkId, index) => ({
    checkId,
    scheduledAt: new Date(BEGIN + index * EVERY_MS).toISOString(),
  }));
  return { name, state: 'ok', runs: runs.toReversed() } as unknown as Monitor;
}

it('counts the turns to bad, also of a monitor that is ok again', () => {
  const monitors = [monitorOf('one', ['a', 'b']), monitorOf('two', ['c'])];
  const starts = ['a', 'b', 'c'].map((id) => [id, BEGIN + 100] as const);
  const changes = [
    { monitor: 'one', to: 'ok' },
    { monitor: 'one', to: 'bad' },
    { monitor: 'one', to: 'ok' },
    { monitor: 'two', to: 'ok' },
  ] as const;

  const ledger = verifyTicks({ monitors, changes, starts }, EVERY_MS, BEGIN + 60_000);

  expect(ledger).toMatchObject({ due: 3, lost: 0, doubled: 0, alarms: 1 });
  expect(ledger.notes).toEqual(['one turned bad']);
});

it('fails without any change of a monitor: the first run changes its state', () => {
  const monitors = [monitorOf('one', ['a'])];

  expect(() => verifyTicks({ monitors, changes: [], starts: [['a', BEGIN]] }, EVERY_MS, BEGIN)).toThrow('one');
});
