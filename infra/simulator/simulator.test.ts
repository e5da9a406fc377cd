import { describe, expect } from '@jest/globals';

import { itNeeding } from '@vantage/test-support/needs';
import { netlabMissing } from '../netlab/netlab.ts';
import { shareOf } from './choose.ts';
import { judge } from './judge/judge.ts';
import { runCases } from './run-cases.ts';
import { scenarios } from './scenarios/index.ts';

const missing = netlabMissing();
const itInSimulator = itNeeding(missing, process.env['CI']);
const SEED = 1;
const cases = shareOf(scenarios);
// All cases run before the tests, many of them concurrently, since most of the time is waiting.
const runs = missing === null ? await runCases(cases, SEED) : [];

describe('the results of a network that logs every packet', () => {
  for (const [index, { scenario, family, check }] of cases.entries()) {
    itInSimulator(`${scenario.name} by ${check} over IPv${family} is what happened`, async () => {
      expect(judge(runs[index]!)).toEqual([]);
    });
  }
});
