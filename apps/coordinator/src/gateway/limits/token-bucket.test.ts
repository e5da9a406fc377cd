import { describe, expect, it } from '@jest/globals';

import { createTokenBucket } from './token-bucket.ts';

describe('a token bucket', () => {
  it('lets a burst pass, then asks for a pause until the rate holds again', () => {
    let now = 0;
    const rate = createTokenBucket({ perSecond: 1_000, burst: 5_000, nowMs: () => now });

    const burst = [rate.take(3_000), rate.take(2_000)];
    const beyond = rate.take(500);
    now = 500;
    const after = [rate.take(0), rate.take(1)];
    now = 1_000_000;
    const rested = [rate.take(5_000), rate.take(100)];

    expect([burst, beyond, after, rested]).toEqual([[0, 0], 500, [0, 1], [0, 100]]);
    expect(rate.left()).toBe(-100);
    now += 1_100;
    expect(rate.left()).toBe(1_000);
  });
});
