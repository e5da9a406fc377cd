import { expect, it } from '@jest/globals';

import { backoffMs } from './refusals.ts';

it('lets an agent ask again within two seconds, however long Redis refused, and not in step with others', () => {
  const waits = Array.from({ length: 100 }, () => backoffMs(1_000));

  expect(Math.max(...waits)).toBeLessThanOrEqual(2_000);
  expect(new Set(waits).size).toBeGreaterThan(10);
});
