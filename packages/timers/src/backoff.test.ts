import { describe, expect, it } from '@jest/globals';

import { createBackoff } from './backoff.ts';

describe('a backoff', () => {
  it('doubles with each failure up to the longest pause', () => {
    const pauseAfter = createBackoff({ firstMs: 50, longestMs: 300 });

    expect([1, 2, 3, 4, 5, 5_000].map(pauseAfter)).toEqual([50, 100, 200, 300, 300, 300]);
  });

  it('takes the first pause before anything has failed', () => {
    expect(createBackoff({ firstMs: 50, longestMs: 300 })(0)).toBe(50);
  });

  it.each([
    ['none of it', 0, 300],
    ['half of it', 0.5, 225],
    ['all of it', 1, 150],
  ])('takes at most its jitter away: %s', (_share, drawn, expected) => {
    expect(createBackoff({ firstMs: 300, longestMs: 300, jitter: 0.5 }, () => drawn)(1)).toBe(expected);
  });
});
