import { describe, expect, it } from '@jest/globals';

import { byChance, inRounds } from '../../../test/finding-cases/path-changes.ts';
import { seeded } from '../../../test/generate.ts';

const codesOf = (summary: ReturnType<typeof inRounds>): readonly string[] => summary.findings.map(({ code }) => code);
const silentBefore = `${'*'.repeat(8)}${'a'.repeat(12)}`;
const changed = `${'a'.repeat(8)}${'b'.repeat(12)}`;

describe('a path that changes between two rounds', () => {
  it('is named with the round and both routers', () => {
    const { findings, verdict } = inRounds('a'.repeat(20), changed, changed);

    expect(verdict).toBe('up');
    expect(findings.map(({ text }) => text)).toEqual([
      'The path from fra-1 changed during the check, about round 9 of 20: hop 2 was 192.0.2.32 before and 192.0.2.33 after. From there on its hops show both paths, and what they lost belongs to no router.',
    ]);
  });

  it('makes a router that is on one of the paths not one that limits its answers', () => {
    expect(codesOf(inRounds('a'.repeat(20), changed, changed, silentBefore))).toEqual(['path_changed']);
    expect(codesOf(inRounds('a'.repeat(20), 'a'.repeat(20), silentBefore))).toEqual(['rate_limited_hop']);
  });

  it('is not reported in 10,000 runs over balancers by packet', () => {
    const random = seeded(19);
    const found = Array.from({ length: 10_000 }, (_, run) => {
      const [routers, rounds, hops] = [2 + (run % 3), 10 + (run % 51), 1 + (run % 4)];
      const answers = Array.from({ length: hops }, () => byChance(random, routers, rounds, 1 + (run % 5)));
      return codesOf(inRounds('a'.repeat(rounds), ...answers));
    });
    expect(found.filter((codes) => codes.includes('path_changed'))).toEqual([]);
  });
});
