import { describe, expect, it } from '@jest/globals';

import { createRefusals } from './refusals.ts';

describe('the clients that a limit refused', () => {
  it('are known until they would be admitted', () => {
    let now = 1_000;
    const { remember, leftMs } = createRefusals(() => now);

    remember('192.0.2.1', 500);
    const before = [leftMs('192.0.2.1'), leftMs('192.0.2.2')];
    now = 1_499;
    const last = leftMs('192.0.2.1');
    now = 1_500;

    expect([before, last, leftMs('192.0.2.1')]).toEqual([[500, undefined], 1, undefined]);
  });

  it('take a bounded room: those refused longest ago are asked about again', () => {
    const { remember, leftMs } = createRefusals(() => 0, 2);

    for (const client of ['a', 'b', 'a', 'c']) remember(client, 100);

    expect(['a', 'b', 'c'].map(leftMs)).toEqual([100, undefined, 100]);
  });
});
