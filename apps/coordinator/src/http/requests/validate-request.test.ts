import { checkTypes } from '@vantage/diagnostics/contract';
import { describe, expect, it } from '@jest/globals';

import { HttpProblem } from '../problem.ts';
import { createRequestValidator } from './validate-request.ts';

const validate = createRequestValidator(Object.values(checkTypes));

function errorsOf(body: unknown): HttpProblem['errors'] {
  try {
    validate(body);
    return [];
  } catch (error) {
    if (error instanceof HttpProblem) return error.errors;
    throw error;
  }
}

describe('a number or a word', () => {
  it.each<readonly [unknown, string]>([
    [17, 'must be <= 16 or "all"'],
    [0, 'must be >= 1 or "all"'],
    [1.5, 'must be an integer or "all"'],
    ['ALL', 'must be an integer or "all"'],
    [true, 'must be an integer or "all"'],
  ])('that is %j is one error', (flows, message) => {
    const errors = errorsOf({ type: 'traceroute', host: 'www.example.com', options: { flows } });

    expect(errors).toEqual([{ path: '/options/flows', message }]);
  });

  it('is either of them', () => {
    for (const flows of [1, 16, 'all']) {
      expect(errorsOf({ type: 'traceroute', host: 'www.example.com', options: { flows } })).toEqual([]);
    }
  });
});
