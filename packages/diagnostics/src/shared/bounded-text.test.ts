import { describe, expect, it } from '@jest/globals';

import { boundText, jsonBytes } from './bounded-text.ts';

describe('text from outside in a result', () => {
  it.each([
    ['short text', 'hello', 'hello'],
    ['text of exactly the bound', 'a'.repeat(20), 'a'.repeat(20)],
    ['text over the bound', 'a'.repeat(21), `${'a'.repeat(17)}…`],
    ['letters of two bytes', 'é'.repeat(20), `${'é'.repeat(8)}…`],
    ['letters of four bytes', '😀'.repeat(20), `${'😀'.repeat(4)}…`],
    ['quotes, which JSON doubles', '"'.repeat(20), `${'"'.repeat(8)}…`],
    ['control characters', 'a\nb', 'a\\u{a}b'],
  ])('is escaped and bounded by its bytes in JSON: %s', (_reason, text, expected) => {
    const bounded = boundText(text, 20);

    expect(bounded).toBe(expected);
    expect(jsonBytes(bounded)).toBeLessThanOrEqual(20);
  });
});
