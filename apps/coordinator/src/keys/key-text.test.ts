import { API_KEY } from '@vantage/contract';
import { describe, expect, it } from '@jest/globals';

import { createKeyText, formatKeyText, hashSecret, isSecretOf, readKeyText } from './key-text.ts';

describe('the text of a key', () => {
  it('has a visible prefix and a secret of 256 bits, and is another one each time', () => {
    const texts = Array.from({ length: 100 }, createKeyText);

    for (const text of texts) {
      expect(formatKeyText(text)).toMatch(API_KEY);
      expect(Buffer.from(text.secret, 'base64url')).toHaveLength(32);
      expect(readKeyText(formatKeyText(text))).toEqual(text);
    }
    expect(new Set(texts.map(({ prefix }) => prefix)).size).toBe(100);
    expect(new Set(texts.map(({ secret }) => secret)).size).toBe(100);
  });

  it.each([
    ['nothing', ''],
    ['another token', 'eyJhbGciOiJIUzI1NiJ9.e30.x'],
    ['no secret', 'vtg_abcd1234'],
    ['a secret that is too short', `vtg_abcd1234_${'a'.repeat(42)}`],
    ['a secret that is too long', `vtg_abcd1234_${'a'.repeat(44)}`],
    ['a space after it', `vtg_abcd1234_${'a'.repeat(43)} `],
    ['a line feed after it', `vtg_abcd1234_${'a'.repeat(43)}\n`],
    ['capitals in the prefix', `vtg_ABCD1234_${'a'.repeat(43)}`],
    ['another alphabet', `vtg_abcd1234_${'+'.repeat(43)}`],
  ])('is not read from %s', (_what, text) => {
    expect(readKeyText(text)).toBeUndefined();
  });

  it('is compared by the hash of its secret', () => {
    const { secret } = createKeyText();

    expect(isSecretOf(secret, hashSecret(secret))).toBe(true);
    expect(isSecretOf(`${secret.slice(1)}a`, hashSecret(secret))).toBe(false);
    expect(hashSecret(secret)).toMatch(/^[\da-f]{64}$/);
  });
});
