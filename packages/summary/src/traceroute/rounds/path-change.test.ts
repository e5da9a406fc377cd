import { describe, expect, it } from '@jest/globals';
import { cases } from '@vantage/test-support/random/case-count';

import { byChance, inRounds, moving } from '../../../test/finding-cases/path-changes.ts';
import { seeded } from '@vantage/test-support/random/seeded';

const codesOf = (summary: ReturnType<typeof inRounds>): readonly string[] => summary.findings.map(({ code }) => code);
const silentBefore = `${'*'.repeat(8)}${'a'.repeat(12)}`;
const changed = `${'a'.repeat(8)}${'b'.repeat(12)}`;

describe('a path that changes between two rounds', () => {
  it('is named with the round and both routers', () => {
    const { findings, verdict } = inRounds('a'.repeat(20), changed, changed);

    expect(verdict).toBe('up');
    expect(findings.map(({ text }) => text)).toEqual([
      'The path from fra-1 changed during the check, about round 9 of 20, unless the routers of hops 2 and 3 answer by other interfaces since: hop 2 answered as 192.0.2.32 before and as 192.0.2.33 after. From there on its hops show both paths, and what they lost belongs to no router.',
    ]);
  });

  it('is not claimed of one hop, whose router may answer by another interface', () => {
    const { findings } = inRounds('a'.repeat(40), 'a'.repeat(20) + 'b'.repeat(20));

    expect(findings.map(({ code, text }) => [code, text])).toEqual([
      [
        'hop_changed',
        'Hop 2 answered fra-1 as 192.0.2.32 at first and as 192.0.2.33 from about round 21 of 40 on: another router, or the same one by another interface. What the hops lost is laid to no router.',
      ],
    ]);
  });

  it('leaves the routers after the change as the path that checks compare', () => {
    const { paths } = inRounds('a'.repeat(20), changed, changed);

    expect(paths?.canonical?.['fra-1']?.hops).toEqual([
      ['192.0.2.16'],
      ['192.0.2.33'],
      ['192.0.2.49'],
      ['203.0.113.1'],
    ]);
  });

  it('makes a router that is on one of the paths not one that limits its answers', () => {
    expect(codesOf(inRounds('a'.repeat(20), changed, changed, silentBefore))).toEqual(['path_changed']);
    expect(codesOf(inRounds('a'.repeat(20), 'a'.repeat(20), silentBefore))).toEqual(['rate_limited_hop']);
  });

  it('is not reported over balancers by packet', () => {
    const random = seeded(19);
    const found = Array.from({ length: cases(750) }, (_, run) => {
      const [routers, rounds, hops] = [2 + (run % 3), 10 + (run % 51), 1 + (run % 4)];
      const answers = Array.from({ length: hops }, () => byChance(random, routers, rounds, 1 + (run % 5)));
      return codesOf(inRounds('a'.repeat(rounds), ...answers));
    });
    expect(found.filter((codes) => codes.includes('path_changed') || codes.includes('hop_changed'))).toEqual([]);
  });
});

describe('a path that becomes longer or shorter between two rounds', () => {
  const textsOf = ({ findings }: ReturnType<typeof moving>): readonly string[] => findings.map(({ text }) => text);

  const shorter = [
    [5, 1],
    [3, 21],
  ] as const;

  it('is named with both hops of the target if the order of the answers proves it', () => {
    const end = 'From there on its hops show both paths, and what they lost belongs to no router.';
    const summary = moving(40, shorter);

    expect(summary.verdict).toBe('up');
    expect(textsOf(summary)).toEqual([
      `The path from fra-1 became shorter during the check, about round 21 of 40: the target was at hop 5 before and at hop 3 after. ${end}`,
    ]);
    expect(summary.paths?.canonical?.['fra-1']?.hops).toEqual([['192.0.2.1'], ['192.0.2.2'], ['203.0.113.1']]);
  });

  it('may be a balancer with ways of different length', () => {
    const end = 'the path changed, or packets take ways of different length. What its hops lost belongs to no router.';

    expect(textsOf(moving(24, shorter))).toEqual([
      `The target answered fra-1 at hop 5, and from about round 21 of 24 on at hop 3: ${end}`,
    ]);
    expect(textsOf(moving(40, [...shorter, [5, 30]]))).toEqual([
      `The target answered fra-1 at hop 5, 3 and 5 in the course of 40 rounds: ${end}`,
    ]);
  });

  it('has the loss of the target at all its hops', () => {
    const { findings } = moving(40, shorter, 10);

    expect(findings.find(({ code }) => code === 'loss_at_target')?.text).toContain('fra-1 misses 25 %');
  });
});
