import { describe, expect, jest } from '@jest/globals';

import { itNeeding } from '../../packages/diagnostics/test/needs.ts';
import { netlabMissing } from '../netlab/netlab.ts';
import { shareOf } from './choose.ts';
import type { Case } from './compile.ts';
import { judge } from './judge/judge.ts';
import { runCases } from './run-cases.ts';
import { scenarios } from './scenarios/index.ts';

const missing = netlabMissing();
const itInSimulator = itNeeding(missing, process.env['CI']);
const SEED = 1;
/**
 * Not judged here: `natck8` over udp, since the checksum that a NAT changed in an eight-byte quotation is what numbers the
 * datagrams; and `half`, where the ports that are drawn decide whether all of a probe's packets take the dead branch.
 */
const heldBack = ({ scenario, check }: Case): boolean =>
  (scenario.name === 'natck8' && check === 'udp') || scenario.name === 'half';
const cases = shareOf(scenarios).filter((one) => !heldBack(one));
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
