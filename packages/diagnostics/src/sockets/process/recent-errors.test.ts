import { describe, expect, it } from '@jest/globals';

import { createRecentErrors } from './recent-errors.ts';

describe('recent ICMP errors', () => {
  it('are found by their owner, as far back as is asked', () => {
    let nowMs = 0;
    const errors = createRecentErrors<string>(() => nowMs);
    errors.add('a', 'first');
    nowMs = 100;
    errors.add('b', 'foreign');
    errors.add('a', 'second');
    nowMs = 200;

    expect(errors.since('a', 250)).toEqual(['first', 'second']);
    expect(errors.since('a', 150)).toEqual(['second']);
    expect(errors.since('a', 50)).toEqual([]);
  });

  it('are bounded in number and age', () => {
    let nowMs = 0;
    const errors = createRecentErrors<number>(() => nowMs);
    for (let number = 1; number <= 300; number += 1) errors.add('a', number);
    expect(errors.since('a', 60_000)).toHaveLength(256);
    expect(errors.since('a', 60_000)[0]).toBe(45);

    nowMs = 20_000;
    errors.add('a', 301);

    expect(errors.since('a', 60_000)).toEqual([301]);
  });
});
