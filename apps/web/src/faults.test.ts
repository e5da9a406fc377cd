import { describe, expect, it } from '@jest/globals';
import { ProblemError, UnusableResponse } from '@vantage/client';

import { faultText, retryAfterMs } from './faults.ts';

const problem = { type: 'x', title: 'x', status: 429, detail: 'At most 20 a minute.', instance: '/', requestId: 'r' };

describe('a request that came to nothing', () => {
  it.each([
    ['what the service says', new ProblemError(429, problem, 3), 'At most 20 a minute.'],
    ['what answers in its place', new ProblemError(502, undefined, undefined), 'answered with status 502.'],
    ['a login page in its place', new UnusableResponse('The response is not JSON.'), 'answered in its place.'],
    ['an unreachable service, under any name of the browser', new TypeError('Failed to fetch'), 'did not answer'],
  ])('becomes a sentence: %s', (_reason, error, text) => {
    expect(faultText(error)).toContain(text);
  });

  it.each([
    ['as the service said', new ProblemError(429, problem, 30), 30_000],
    ['not before the least', new ProblemError(429, problem, 0), 2_000],
    ['without a stated time', new TypeError('Failed to fetch'), 2_000],
  ])('is tried again %s', (_reason, error, ms) => {
    expect(retryAfterMs(error, 2_000)).toBe(ms);
  });
});
