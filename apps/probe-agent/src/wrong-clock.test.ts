import { expect, it } from '@jest/globals';

import { wrongClock } from './wrong-clock.ts';

const HOUR_MS = 3_600_000;
const NOW = Date.parse('2026-01-01T00:00:00Z');

it.each([
  ['the same', 0, false],
  ['an hour late', -HOUR_MS, false],
  ['a day ahead', 24 * HOUR_MS, true],
  ['that of a machine without a battery', -NOW, true],
])('a clock that is %s', (_reason, offsetMs, isWrong) => {
  const reasons = wrongClock(NOW, NOW + offsetMs);

  expect(reasons.map((reason) => reason.includes('clock of this machine'))).toEqual(isWrong ? [true] : []);
});
