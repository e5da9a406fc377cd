import { describe, expect } from '@jest/globals';

import { itNeeding } from '@vantage/test-support/needs';
import { netlabMissing } from '../netlab/netlab.ts';
import { shareOf } from './choose.ts';
import type { Case } from './compile.ts';
import type { Complaint } from './judge/complaint.ts';
import { judge } from './judge/judge.ts';
import { runCases } from './run-cases.ts';
import { scenarios } from './scenarios/index.ts';

const missing = netlabMissing();
const itInSimulator = itNeeding(missing, process.env['CI']);
const SEED = 1;
const cases = shareOf(scenarios);

// All cases run before the tests, many of them concurrently, since most of the time is waiting.
const first = missing === null ? await complaintsAbout(cases) : [];
const again = cases.filter((_, index) => isOfHaste(first[index] ?? []));
const second = again.length > 0 ? await complaintsAbout(again) : [];

async function complaintsAbout(those: readonly Case[]): Promise<readonly (readonly Complaint[])[]> {
  return (await runCases(those, SEED)).map(judge);
}

/**
 * True if all complaints are that an MTU could not be found out in time, as on a busy machine. Such cases run once
 * more, without the others.
 */
function isOfHaste(complaints: readonly Complaint[]): boolean {
  const isUnknown = /: (?:pathMtu|mtuBlackHole) is null, in truth /;
  return complaints.length > 0 && complaints.every(({ text }) => isUnknown.test(text));
}

describe('the results of a network that logs every packet', () => {
  for (const [index, of] of cases.entries()) {
    const { scenario, family, check } = of;
    itInSimulator(`${scenario.name} by ${check} over IPv${family} is what happened`, async () => {
      expect(second[again.indexOf(of)] ?? first[index]).toEqual([]);
    });
  }
});
