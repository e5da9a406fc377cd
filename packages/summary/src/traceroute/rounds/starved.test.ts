import { describe, expect, it } from '@jest/globals';

import { lines, summaryOf } from '../../../test/cases.ts';
import { trace } from '../../../test/results.ts';
import { limitedInGroups } from '../../../test/spaced-groups.ts';

const kept = '.'.repeat(20);

/**
 * A trace in rounds over one router, which always answers: one mark per round for the target, `.` for an answer, `*`
 * for none.
 */
function inRounds(target: string, fields: Parameters<typeof trace>[1] = {}): ReturnType<typeof trace> {
  const row = (text: string): string => Array.from(text).join(' ').replaceAll('.', '5');
  const rows = [`198.51.100.1 ${row(kept)}`, `203.0.113.1 ${row(target)}`];
  const hops = [kept, target].map((text) => Array.from(text, (mark) => (mark === '.' ? 0 : null)));
  const flows = [{ reached: true, stopReason: 'completed' as const, hops }];
  return trace(rows, { rounds: target.length, flows, ...fields });
}

function codesOf(fra: ReturnType<typeof trace>, ber?: string): readonly string[] {
  const results = { 'fra-1': fra, ...(ber === undefined ? {} : { 'ber-1': inRounds(ber) }) };
  return lines(summaryOf('traceroute', results)).map((line) => line.split(':')[0]!);
}

describe.each([
  ['the last rounds', '....****************', 'target_stops'],
  ['rounds in between', '....***********.....', 'target_pauses'],
])('a probe of which the target answered none of %s', (_which, target, code) => {
  it.each([
    ['no other probe is known', undefined],
    ['it answers all of another probe', kept],
    ['it answered none of another probe either', target],
  ])('met an outage if %s', (_reason, other) => {
    expect(codesOf(inRounds(target), other)).toContain(`${code} warning`);
  });

  it('may have come too late each time if the target answers few of another probe meanwhile', () => {
    expect(codesOf(inRounds(target), '..*.**.**..***.*.***')).toEqual(['loss_at_target info']);
  });

  it('may have met a limit if the target answers in part what follows the rounds', () => {
    expect(codesOf(inRounds(target, { spaced: limitedInGroups }))).toEqual(['loss_at_target info']);
  });
});
