import { describe, expect, it } from '@jest/globals';

import { goalsOf } from './goals.ts';
import { newTally } from './ledger.ts';

const late = { ...newTally('trial'), accepted: 1, worstLatenessMs: 2_500 };

describe('the goal for the worst lateness', () => {
  it.each([
    ['two seconds', 0, 2_000],
    ['two seconds and the indulgence of the run', 1_000, 3_000],
  ])('is %s', (_what, indulgenceMs, atMost) => {
    const goal = goalsOf([late], indulgenceMs).find(({ name }) => name.startsWith('worst lateness'));

    expect(goal).toMatchObject({ value: 2_500, atMost });
  });
});
