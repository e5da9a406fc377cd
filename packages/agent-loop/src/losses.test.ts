import { expect, it } from '@jest/globals';

import { createLosses } from './losses.ts';

/** @returns whether the connection counts as unstable at each of these seconds */
function unstableAt(lostAt: readonly number[], seconds: readonly number[]): readonly boolean[] {
  let now = 0;
  const losses = createLosses('Redis', () => now * 1_000);
  for (const at of lostAt) {
    now = at;
    losses.note();
  }
  return seconds.map((at) => {
    now = at;
    return losses.reason() !== undefined;
  });
}

it('a deliberate end is no loss, however often it is noticed', () => {
  const losses = createLosses('Redis', () => 0);
  const isUnstableAfter = (isDeliberate: boolean): boolean => {
    losses.note();
    for (let times = 0; isDeliberate && times < 2; times += 1) losses.excuse();
    return losses.reason() !== undefined;
  };

  const ends = [true, true, true, false, true, false, true, false, true];
  expect(ends.map(isUnstableAfter)).toEqual([...Array<boolean>(7).fill(false), true, true]);
});

it.each([
  ['none', [], [0], [false]],
  ['two, as when both gateways are killed', [10, 20], [20], [false]],
  ['three in a minute, until one of them is older', [10, 20, 30], [30, 70, 71], [true, true, false]],
  ['one every half minute', [0, 30, 61, 92], [92], [false]],
  ['one every three seconds for long', Array.from({ length: 100 }, (_, index) => index * 3), [297, 352], [true, false]],
])('a connection is unstable after three losses within a minute: %s', (_case, lostAt, seconds, expected) => {
  expect(unstableAt(lostAt, seconds)).toEqual(expected);
});
