import { describe, expect, it } from '@jest/globals';

import { boundedMemo } from './bounded-memo.ts';

describe('a bounded memo', () => {
  it('computes once what it keeps, and keeps what was used last', () => {
    const memo = boundedMemo<number>(2);
    const computed: string[] = [];
    const get = (key: string): number => memo.get(key, () => computed.push(key));

    for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) get(key);

    expect(computed).toEqual(['a', 'b', 'c', 'b']);
  });

  it('keeps nothing of what threw', () => {
    const memo = boundedMemo<number>(2);
    const fail = (): number => {
      throw new Error('no');
    };

    expect(() => memo.get('a', fail)).toThrow('no');
    expect(memo.get('a', () => 1)).toBe(1);
  });
});
