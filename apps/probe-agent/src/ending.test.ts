import { describe, expect, it } from '@jest/globals';

import { endingOf } from './ending.ts';
import { openPort } from '../test/fakes.ts';

const times = { leftMs: 10_000, wholeMs: 10_000, stoodMs: 0, heldUpMs: 0 };
const [apart, inProcess] = [{ needsRawSockets: true }, { needsRawSockets: false }];

describe('the ending of a run that was held up', () => {
  it('states short standstills that make up half of the measured time', () => {
    const outcome = { ...openPort(80), rt: 400 };

    const ending = endingOf(outcome, { ...times, heldUpMs: 250 }, inProcess);

    expect(ending).toEqual({ outcome: { ...outcome, stalled: 250 } });
  });

  it.each([
    ['a longer time', { ...openPort(80), rt: 600 }, inProcess],
    ['silence', { ...openPort(80), result: 'timeout', rt: null } as const, inProcess],
    ['no time', { ...openPort(80), rt: null }, inProcess],
    ['times that another process or the kernel takes', { ...openPort(80), rt: 400 }, apart],
  ])('leaves out what hardly matters to %s', (_what, outcome, checkType) => {
    const ending = endingOf(outcome, { ...times, heldUpMs: 250 }, checkType);

    expect(ending).toEqual({ outcome });
  });
});
