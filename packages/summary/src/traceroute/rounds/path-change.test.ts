import { describe, expect, it } from '@jest/globals';

import { byChance, inRounds, moving } from '../../../test/finding-cases/path-changes.ts';
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

describe('a path that becomes longer or shorter between two rounds', () => {
  const textsOf = ({ findings }: ReturnType<typeof moving>): readonly string[] => findings.map(({ text }) => text);

  it('is named with both hops of the target, and nothing is laid to a router', () => {
    const end = 'From there on its hops show both paths, and what they lost belongs to no router.';
    const longer = moving([
      [3, 1],
      [5, 7],
    ]);

    expect(longer.verdict).toBe('up');
    expect(textsOf(longer)).toEqual([
      `The path from fra-1 became longer during the check, about round 7 of 12: the target was at hop 3 before and at hop 5 after. ${end}`,
    ]);
    expect(
      textsOf(
        moving([
          [5, 1],
          [3, 7],
        ]),
      ),
    ).toEqual([
      `The path from fra-1 became shorter during the check, about round 7 of 12: the target was at hop 5 before and at hop 3 after. ${end}`,
    ]);
  });

  it('has the loss of the target at all its hops', () => {
    const { findings } = moving(
      [
        [5, 1],
        [3, 7],
      ],
      3,
    );

    expect(findings.find(({ code }) => code === 'loss_at_target')?.text).toContain('where fra-1 loses 25 %');
  });

  it('more than once has all hops', () => {
    expect(
      textsOf(
        moving([
          [5, 1],
          [3, 4],
          [5, 8],
        ]),
      )[0],
    ).toContain('changed 2 times in 12 rounds: the target was at hop 5, 3 and 5.');
  });
});
