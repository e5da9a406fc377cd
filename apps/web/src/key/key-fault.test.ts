import { describe, expect, it } from '@jest/globals';
import { ProblemError } from '@vantage/client';

import { keyFault } from './key-fault.ts';

const key = `vtg_abcd1234_${'a'.repeat(43)}`;

describe('the text in the field for the API key', () => {
  it.each([
    ['a token of another service', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtZSJ9.c2lnbmF0dXJl'],
    ['a key without its beginning', key.slice(4)],
    ['a key without its end', key.slice(0, -1)],
    ['a key in quotes', `"${key}"`],
    ['a key with its scheme', `Bearer ${key}`],
    ['characters that no header can have', 'ключ'],
  ])('is not sent to the service, which ignores what is no key: %s', async (_reason, text) => {
    const asked: string[] = [];

    await expect(keyFault(text, async (given) => void asked.push(given))).resolves.toContain('not a whole API key');
    expect(asked).toEqual([]);
  });

  const problem = { type: 'x', title: 'x', detail: 'There is no such API key.', instance: '/', requestId: 'r' };
  const refused = (status: number): ProblemError => new ProblemError(status, { ...problem, status }, undefined);

  it.each([
    ['', 'the service knows', undefined],
    ['', 'lacks the scope to read', refused(403)],
    ['', 'has reached its limit', refused(429)],
    [problem.detail, 'the service does not know', refused(401)],
  ])('has the fault "%s" if it is a key that %s', async (fault, _reason, error) => {
    await expect(keyFault(key, () => (error === undefined ? Promise.resolve() : Promise.reject(error)))).resolves.toBe(
      fault,
    );
  });
});
