import { expect, it } from '@jest/globals';
import { pino } from 'pino';

import { pauseAfter } from './pause-after.ts';
import { createReconnect } from './reconnect.ts';

const log = pino({ level: 'silent' });

/** Pauses in seconds, at most, after refusals with one code. */
async function pauses(reason: string, count: number): Promise<readonly number[]> {
  const reconnect = createReconnect(() => 1);
  const identity = {
    probeId: () => 'fra-1',
    answer: () => Promise.reject(new Error('not asked')),
    confirmed: async () => undefined,
    refused: async () => 'wait' as const,
  };
  const found: number[] = [];
  for (let failures = 1; failures <= count; failures += 1) {
    found.push((await pauseAfter({ code: 4401, reason }, { identity, reconnect, log, failures }))! / 1_000);
  }
  return found;
}

it.each([
  ['a suspended probe is back soon after it is resumed', 'suspended', [30, 30, 30]],
  ['a removed probe comes back by another token only', 'unknown-probe', [30, 60, 90]],
  ['another key is enrolled', 'unknown-key', [30, 60, 90]],
])('the pauses grow only after a refusal of the key: %s', async (_reason, code, expected) => {
  expect(await pauses(code, 3)).toEqual(expected);
});

it('an agent that was removed costs its address few attempts', async () => {
  expect((await pauses('unknown-probe', 40)).slice(-2)).toEqual([300, 300]);
});
