import { describe, expect, it } from '@jest/globals';
import { ProblemError } from '@vantage/client';
import type { Problem } from '@vantage/contract';

import { statusOfFault } from './exit-status.ts';

describe('the exit status', () => {
  it.each([
    ['a request that is not valid', 400, 2],
    ['a target that is refused', 403, 2],
    ['no probe for it', 422, 4],
    ['too many requests', 429, 3],
    ['no Redis', 503, 3],
  ])('after %s is that of its kind', (_reason, code, status) => {
    const problem = { type: '/problems/x', title: 'X', status: code, detail: 'X.' } as Problem;

    expect(statusOfFault(new ProblemError(code, problem, undefined))).toBe(status);
  });

  it('is that of a service out of reach where something else answers', () => {
    expect(statusOfFault(new ProblemError(404, undefined, undefined))).toBe(3);
    expect(statusOfFault(new TypeError('fetch failed'))).toBe(3);
  });
});
