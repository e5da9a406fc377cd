import { describe, expect } from '@jest/globals';

import { itNeeding } from '@vantage/test-support/needs';
import { cases as caseCount } from '@vantage/test-support/random/case-count';
import { netlabMissing } from '../netlab/netlab.ts';
import { shareOf } from './choose.ts';
import type { Case } from './compile.ts';
import type { Complaint } from './verify/complaint.ts';
import { verifyCase } from './verify/verify-case.ts';
import { runCases } from './run-cases.ts';
import { scenarios } from './scenarios/index.ts';

const missing = netlabMissing();
const itInSimulator = itNeeding(missing, process.env['CI']);
const SEED = 1;
const MOST_RUNS = 4;
/** Every eighth of the scenarios that have found no defect runs; with `CASES=8` all of them, in one case each. */
const EVERY = Math.max(1, Math.round(8 / caseCount(1)));
/** Takes twice as long as any other, so it starts first. */
const LONGEST = 'udplimitf8';
const isLongest = ({ scenario }: Case): number => Number(scenario.name === LONGEST);
const cases = shareOf(scenarios, EVERY).toSorted((a, b) => isLongest(b) - isLongest(a));

// All cases run before the tests, many of them concurrently, since most of the time is waiting.
const found = new Map<Case, readonly Complaint[]>();
if (missing === null) await examine(cases);
for (let runs = 1; runs < MOST_RUNS; runs += 1) {
  const again = cases.filter((one) => isOfHaste(found.get(one) ?? []));
  if (again.length > 0) await examine(again);
}

async function examine(those: readonly Case[]): Promise<void> {
  const results = await runCases(those, SEED);
  for (const [index, one] of those.entries()) found.set(one, verifyCase(results[index]!));
}

/**
 * True if all complaints are that an MTU is not known, and so not in the summary, nor in its verdict, or that packets
 * seem lost: on a busy machine time ends before it is found, and answers come after the wait for them. Such cases run
 * again, up to `MOST_RUNS` times in all, without the others.
 */
function isOfHaste(complaints: readonly Complaint[]): boolean {
  const isLate = /: (?:(?:pathMtu|mtuBlackHole) is null|fullSize is undefined|\d+ lost), in truth |^path_mtu_\w+$/;
  const isOfLate = /^up, in truth degraded: /;
  return (
    complaints.some(({ text }) => isLate.test(text)) &&
    complaints.every(({ text }) => isLate.test(text) || isOfLate.test(text))
  );
}

describe('the results of a network that logs every packet', () => {
  for (const of of cases) {
    const { scenario, family, check } = of;
    itInSimulator(`${scenario.name} by ${check} over IPv${family} is what happened`, async () => {
      expect(found.get(of)).toEqual([]);
    });
  }
});
