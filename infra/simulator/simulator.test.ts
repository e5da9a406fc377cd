import { describe, expect, jest } from '@jest/globals';

import { itNeeding } from '../../packages/diagnostics/test/needs.ts';
import { netlabMissing } from '../netlab/netlab.ts';
import { shareOf } from './choose.ts';
import { judge } from './judge/judge.ts';
import { runCases } from './run-cases.ts';
import { scenarios } from './scenarios/index.ts';

const missing = netlabMissing();
const itInSimulator = itNeeding(missing, process.env['CI']);
const SEED = 1;
/** What is said of these is not true yet. */
const heldBack =
  /^(h31|h41|h63|max\d|sil5|sil8|sil10|sil5start|sil8start|silall6|sil\dend|eq.*f7|half|.*loss.*|shytarget50|err.*|flaky|r2100|r2500|r2900|r3500|slowhop.*|pm5|pm1400.*|udp.*|copiesttl|loop2passing|routerlate)$/;
const cases = shareOf(scenarios).filter(({ scenario }) => !heldBack.test(scenario.name));
// All at the same time: most of it is waiting.
const runs = missing === null ? await runCases(cases, SEED) : [];

jest.setTimeout(120_000);

describe('what is said of a network whose every packet is logged', () => {
  for (const [index, { scenario, family, check }] of cases.entries()) {
    itInSimulator(`${scenario.name} by ${check} over IPv${family} is what happened`, async () => {
      expect(judge(runs[index]!)).toEqual([]);
    });
  }
});
