import { expect, it } from '@jest/globals';

import { createLosses } from './losses.ts';

/**
 * Simulates interruptions, each from one second to another.
 *
 * @returns for each of `seconds` whether the connection then counts as unstable
 */
function unstableAfter(
  interruptions: readonly (readonly [number, number])[],
  seconds: readonly number[],
): readonly boolean[] {
  let now = 0;
  const losses = createLosses('Redis', () => now * 1_000);
  for (const [lostAt, restoredAt] of interruptions) {
    now = lostAt;
    losses.note();
    now = restoredAt;
    losses.restored();
  }
  return seconds.map((at) => {
    now = at;
    return losses.reason() !== undefined;
  });
}

const eachHalfMinute = (times: number, seconds: number) =>
  Array.from({ length: times }, (_, index) => [index * 31, index * 31 + seconds] as const);

it.each<[string, readonly (readonly [number, number])[], readonly number[], readonly boolean[]]>([
  ['four seconds each half minute', eachHalfMinute(4, 4), [97, 124, 150, 151], [true, true, true, false]],
  ['the same, also before the next one', eachHalfMinute(5, 4), [128, 154], [true, true]],
  ['a second each half minute', eachHalfMinute(9, 1), [249], [false]],
  [
    'twice ten seconds, as two fail-overs of Redis',
    [
      [0, 10],
      [31, 41],
    ],
    [41],
    [false],
  ],
  ['ten seconds each minute', [0, 60, 120, 180].map((at) => [at, at + 10] as const), [190], [false]],
])(
  'a connection is unstable after four losses in two and a half minutes that took ten seconds: %s',
  (_case, interruptions, seconds, expected) => {
    expect(unstableAfter(interruptions, seconds)).toEqual(expected);
  },
);

it('a deliberate end costs no time', () => {
  let now = 0;
  const losses = createLosses('Redis', () => now);
  for (const at of [0, 30_000, 60_000, 90_000]) {
    now = at;
    losses.note();
    losses.excuse();
    now = at + 10_000;
    losses.restored();
  }

  expect(losses.reason()).toBeUndefined();
});

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
  const atOnce = lostAt.map((at) => [at, at] as const);

  expect(unstableAfter(atOnce, seconds)).toEqual(expected);
});
