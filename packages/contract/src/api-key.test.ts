import { describe, expect, it } from '@jest/globals';

import { hasApiKey, withoutEncodedSecrets, withoutSecrets } from './api-key.ts';

const secret = 'Zm9vYmFyLWJhei1xdXh_Zm9vYmFyLWJhei1xdXh-123';
const key = `vtg_abcd1234_${secret}`;
const encode = (text: string): string => Buffer.from(text).toString('hex').replaceAll(/../g, '%$&');
const again = (text: string): string => text.replaceAll('%', '%25');

describe('a text without secrets of keys', () => {
  it.each([
    ['alone', key, 'vtg_abcd1234_REDACTED'],
    ['in a sentence', `no "${key}", please`, 'no "vtg_abcd1234_REDACTED", please'],
    ['twice', `${key} ${key}`, 'vtg_abcd1234_REDACTED vtg_abcd1234_REDACTED'],
    ['in lower case', key.toLowerCase(), 'vtg_abcd1234_REDACTED'],
    ['without a whole prefix', `vtg_abc${secret}`, 'vtg_REDACTED'],
    ['in part', `vtg_abcd1234_${secret.slice(0, 12)}`, 'vtg_abcd1234_REDACTED'],
    ['in a host', `${key}.example.com`, 'vtg_abcd1234_REDACTED.example.com'],
  ])('keeps the visible prefix of a key that is there %s', (_where, text, clean) => {
    expect(withoutSecrets(text)).toBe(clean);
    expect(withoutSecrets(clean)).toBe(clean);
    expect(withoutEncodedSecrets(text)).toBe(clean);
  });

  it.each([
    ['with one letter encoded', `/check/vtg%5Fabcd1234_${secret}`],
    ['encoded', `/check/${encode(key)}/results`],
    ['encoded with capitals', `/check/${encode(key).toUpperCase()}/results`],
    ['encoded twice', `/check/${again(encode(key))}`],
    ['encoded seven times', `/check/${[1, 2, 3, 4, 5, 6].reduce(again, encode(key))}`],
    ['encoded forty times', `/check/${Array.from({ length: 39 }).reduce<string>(again, encode(key))}`],
    [
      'with one letter encoded nine times',
      `/vtg${Array.from({ length: 8 }).reduce<string>(again, '%5f')}abcd1234_${secret}`,
    ],
    ['next to bytes that are not UTF-8', `/check/%ff${encode(key)}`],
  ])('has none that is %s', (_how, text) => {
    const clean = withoutEncodedSecrets(text);

    expect(clean).toContain('vtg_abcd1234_REDACTED');
    expect(clean).not.toContain(secret);
  });

  it.each(['/check', '100 % of 5 %25', 'vtg', '/problems/rate-limited', 'a%20b', '%'])('is %s as it was', (text) => {
    expect(withoutSecrets(text)).toBe(text);
    expect(withoutEncodedSecrets(text)).toBe(text);
  });

  it('had a whole key if a client sent one', () => {
    expect([key, `http://${key}.example.com/`, `/?a=${again(encode(key))}`, key.toUpperCase()].every(hasApiKey)).toBe(
      true,
    );
    expect(['', 'vtg_abcd1234', key.slice(0, -1), 'https://example.com/'].some(hasApiKey)).toBe(false);
  });

  it('stays a line of JSON if it was one', () => {
    const line = JSON.stringify({
      msg: 'request handler threw',
      err: { message: `no "${key}"`, path: `/${key}` },
      level: 50,
    });

    expect(JSON.parse(withoutSecrets(line))).toEqual({
      msg: 'request handler threw',
      err: { message: 'no "vtg_abcd1234_REDACTED"', path: '/vtg_abcd1234_REDACTED' },
      level: 50,
    });
  });

  it('ends soon for a text that is made to take long', () => {
    const hostile = `%${'25'.repeat(8_000)}`;

    expect(withoutEncodedSecrets(hostile)).toBe(hostile);
  });
});
