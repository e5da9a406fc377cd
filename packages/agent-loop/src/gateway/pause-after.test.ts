import { expect, it } from '@jest/globals';
import { pino } from 'pino';

import { pauseAfter, reportFailure } from './pause-after.ts';
import { createReconnect } from './reconnect.ts';

const log = pino({ level: 'silent' });

/** The longest possible pause, in seconds, after each of `count` refusals in a row for one reason. */
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
    found.push(
      (await pauseAfter({ code: 4401, reason }, { identity, reconnect, log, failures, logged: new Set() }))! / 1_000,
    );
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

it('the pause after a refusal is the one that was set, or up to twice as long', () => {
  expect([0, 1].map((random) => createReconnect(() => random, 1_000).afterRefusal())).toEqual([1_000, 2_000]);
});

it('each reason for an outage is logged once, then with every twentieth attempt', () => {
  const reasons = ['', 'the state folder cannot be used', '', 'the state folder cannot be used'];
  const lines: string[] = [];
  const counting = pino(
    {},
    { write: (line) => void lines.push((JSON.parse(line) as { err?: { message: string } }).err?.message ?? '') },
  );
  const logged = new Set<string>();
  for (let failures = 1; failures <= 41; failures += 1) {
    const reason = reasons[failures - 1] ?? `reason ${failures}`;
    const error = reason === '' ? undefined : new Error(failures > 20 ? reasons[1] : reason);
    reportFailure({ code: 1006, reason: '', error }, { log: counting, failures, logged });
  }

  const others = [5, 6, 7, 8, 9, 10].map((failures) => `reason ${failures}`);
  expect(lines).toEqual(['', reasons[1], ...others, reasons[1], reasons[1]]);
});

it.each([
  [4403, 'suspended or removed, or its key was replaced'],
  [4406, 'does not speak the version of the agent'],
])('an agent that is refused with %i logs what that means', async (code, meaning) => {
  const lines: string[] = [];
  const identity = {} as never;
  const noting = pino({}, { write: (line) => void lines.push(line) });
  const context = { identity, reconnect: createReconnect(), log: noting, failures: 1, logged: new Set<string>() };
  await pauseAfter({ code, reason: '2' }, context);

  expect(lines).toEqual([expect.stringContaining(meaning)]);
  expect(lines[0]).toContain(`"code":${code},"reason":"2"`);
});
