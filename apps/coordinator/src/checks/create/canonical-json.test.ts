import { describe, expect, it } from '@jest/globals';

import { canonicalJson } from './canonical-json.ts';

describe('the text by which requests are compared', () => {
  it.each([
    [
      'the order of fields',
      { a: 1, b: { c: [1, { e: 1, d: 2 }], f: null } },
      { b: { f: null, c: [1, { d: 2, e: 1 }] }, a: 1 },
    ],
    ['nothing', [], []],
  ])('is the same whatever %s', (_reason, a, b) => {
    expect(canonicalJson(a)).toBe(canonicalJson(b));
  });

  it.each([
    ['an order of items', { a: [1, 2] }, { a: [2, 1] }],
    ['a type', { a: 1 }, { a: '1' }],
    ['an absent field', { a: null }, {}],
  ])('is another one for %s', (_reason, a, b) => {
    expect(canonicalJson(a)).not.toBe(canonicalJson(b));
  });
});
