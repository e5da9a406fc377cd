import { describe, expect, it } from '@jest/globals';

import { endingOf } from './ending.ts';
import { openPort } from '../../test/fakes.ts';

const times = { leftMs: 10_000, wholeMs: 10_000, longStallsMs: 0, allStallsMs: 0 };
const [apart, inProcess] = [{ needsRawSockets: true }, { needsRawSockets: false }];

describe('the ending of a run that was held up', () => {
  it('states short stalls that make up half of the measured time', () => {
    const outcome = { ...openPort(80), rt: 400 };

    const ending = endingOf(outcome, { ...times, allStallsMs: 250 }, inProcess);

    expect(ending).toEqual({ outcome: { ...outcome, stalled: 250 } });
  });

  it.each([
    ['a longer time', { ...openPort(80), rt: 600 }, inProcess],
    ['silence', { ...openPort(80), result: 'timeout', rt: null } as const, inProcess],
    ['no time', { ...openPort(80), rt: null }, inProcess],
    ['times that another process or the kernel takes', { ...openPort(80), rt: 400 }, apart],
  ])('leaves out what hardly matters to %s', (_what, outcome, checkType) => {
    const ending = endingOf(outcome, { ...times, allStallsMs: 250 }, checkType);

    expect(ending).toEqual({ outcome });
  });
});

describe('the ending of a run whose time was cut', () => {
  const leftMs = 2_000;

  it.each([
    ['resolve', 'Too little of the time of the check was left for the resolution of the name.'],
    ['tls', 'Too little of the time of the check was left for the TLS handshake.'],
    ['response', 'Too little of the time of the check was left to await the answer.'],
  ] as const)('says what was under way: %s', (phase, message) => {
    const error = { code: 'timed_out', phase, source: 'network', message: 'It did not end in time.' } as const;
    const ending = endingOf({ ...openPort(80), result: 'timeout', rt: null, error }, { ...times, leftMs }, inProcess);

    const failure = { code: 'probe_timeout', phase, source: 'probe', message };
    expect(ending).toEqual({ result: 'timeout', failure });
  });
});
