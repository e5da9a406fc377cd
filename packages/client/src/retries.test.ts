import { describe, expect, it } from '@jest/globals';

import { isFinalRefusal, ProblemError } from './index.ts';

const problem = { type: 'x', title: 'x', status: 429, detail: 'At most 20 a minute.', instance: '/', requestId: 'r' };

describe('a request that came to nothing', () => {
  it.each([
    ['a check that is gone', new ProblemError(404, problem, undefined), true],
    ['a limit', new ProblemError(429, problem, 3), false],
    ['a proxy that has no service behind it', new ProblemError(404, undefined, undefined), false],
    ['a store that is away', new ProblemError(503, problem, 1), false],
    ['a connection that is lost', new TypeError('Failed to fetch'), false],
  ])('is final or not: %s', (_reason, error, isFinal) => {
    expect(isFinalRefusal(error)).toBe(isFinal);
  });
});
