import { describe, expect, it } from '@jest/globals';

import { createConnectLimit } from './connect-limit.ts';

describe('the limit of connections of a probe', () => {
  it('admits thirty at once and one a second from then on, however many were refused', () => {
    let now = 0;
    const limit = createConnectLimit(() => now);
    const ask = (times: number): number =>
      Array.from({ length: times }, () => limit.admits('a')).filter(Boolean).length;

    const first = ask(1_000);
    now = 999;
    const early = ask(10);
    now = 2_000;
    const later = ask(10);

    expect([first, early, later]).toEqual([30, 0, 2]);
    expect(limit.admits('b')).toBe(true);
  });
});
