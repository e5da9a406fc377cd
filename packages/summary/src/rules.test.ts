import { describe, expect, it } from '@jest/globals';
import { findingCodes, findingSeverities } from '@vantage/contract';

import { findingRules } from './rules.ts';

describe('the rules', () => {
  it('are in the order of the contract’s list', () => {
    expect(Object.keys(findingRules)).toEqual(Object.keys(findingCodes));
  });

  it.each(Object.entries(findingRules))(
    'name the severities of %s from the gravest on',
    (_code, { severities, rule }) => {
      const order = findingSeverities.filter((severity) => severities.includes(severity));

      expect([severities, rule.endsWith('.')]).toEqual([order, true]);
      expect(order.length).toBeGreaterThan(0);
    },
  );
});
