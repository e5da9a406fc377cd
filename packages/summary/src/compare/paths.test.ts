import { describe, expect, it } from '@jest/globals';
import type { Comparison, PathComparison } from '@vantage/contract';
import { cases } from '@vantage/test-support/random/case-count';

import { traced, type Segment, type TraceOptions } from '../../test/balanced-paths.ts';
import { each } from '../../test/cases.ts';
import { compared } from '../../test/compared.ts';
import { seeded } from '@vantage/test-support/random/seeded';
import { multipath, trace } from '../../test/results.ts';
import { tracesOf, type Trace } from '../traceroute/trace.ts';
import { comparePaths } from './path/compare-paths.ts';

/** `npm run -s bench -- paths --only changes` has 10,000 runs of similar balancers. */
const RUNS = cases(500);

const balanced: readonly Segment[] = [
  '198.51.100.1',
  [['198.51.100.2'], ['198.51.100.3']],
  '198.51.100.9',
  [['192.0.2.2'], ['192.0.2.3'], ['192.0.2.4'], ['192.0.2.5']],
  '192.0.2.9',
];

/** A path whose alternatives differ in length. */
const uneven: readonly Segment[] = [
  '198.51.100.1',
  [['198.51.100.2'], ['198.51.100.3', '198.51.100.4']],
  [['192.0.2.2'], ['192.0.2.3']],
];

/** Compares each run with the one before it. */
function relationsOf(path: readonly Segment[], options: TraceOptions, runs: number): Record<string, number> {
  const random = seeded(1);
  const count: Record<string, number> = {};
  let before = traceOf(traced(path, options, random));
  for (let run = 0; run < runs; run += 1) {
    const after = traceOf(traced(path, options, random));
    const { relation } = comparePaths(before, after);
    count[relation] = (count[relation] ?? 0) + 1;
    before = after;
  }
  return count;
}

function traceOf(result: ReturnType<typeof traced>): Trace {
  return tracesOf([{ probe: 'fra-1', facts: undefined, outcome: result.result, result }])[0]!;
}

function pathOf(comparison: Comparison): PathComparison {
  return comparison.probes['fra-1']!.path!;
}

describe('a path over load balancers', () => {
  it.each<[string, readonly Segment[], TraceOptions, number?]>([
    ['per packet, one flow', balanced, { flows: 1, queries: 3, balancing: 'packet' }, RUNS],
    ['per packet, ten packets', balanced, { flows: 1, queries: 10, balancing: 'packet' }],
    ['per packet, sixteen flows', balanced, { flows: 16, queries: 3, balancing: 'packet' }],
    ['per flow, one flow with a new port', balanced, { flows: 1, queries: 3, balancing: 'flow' }, RUNS],
    ['per flow, four flows', balanced, { flows: 4, queries: 3, balancing: 'flow' }],
    ['per flow, sixteen flows', balanced, { flows: 16, queries: 1, balancing: 'flow' }, RUNS],
    ['alternatives of different lengths', uneven, { flows: 16, queries: 3, balancing: 'flow' }],
    ['alternatives of different lengths, one flow', uneven, { flows: 1, queries: 3, balancing: 'flow' }],
    ['with loss', balanced, { flows: 16, queries: 1, balancing: 'flow', loss: 0.3 }],
    [
      'with a silent alternative',
      balanced,
      { flows: 16, queries: 3, balancing: 'flow', silent: new Set(['198.51.100.2']) },
    ],
  ])('is not changed from run to run: %s', (_reason, path, options, runs = cases(100)) => {
    const count = relationsOf(path, options, runs);

    expect(count['changed'] ?? 0).toBe(0);
    expect(Object.values(count).reduce((sum, n) => sum + n, 0)).toBe(runs);
  });

  it('has one hash in most runs of sixteen flows, and is not in doubt', () => {
    const twoWays = balanced.slice(0, 3);

    const { same = 0, unsure = 0 } = relationsOf(twoWays, { flows: 16, queries: 1, balancing: 'flow' }, RUNS);

    expect(same).toBeGreaterThan(0.995 * RUNS);
    expect(unsure).toBe(0);
  });
});

describe('a change of the path', () => {
  const replaced: readonly Segment[] = [...balanced.slice(0, 2), '198.51.100.8', ...balanced.slice(3)];
  const longer: readonly Segment[] = [...balanced.slice(0, 3), '198.51.100.10', ...balanced.slice(3)];
  const shorter: readonly Segment[] = [...balanced.slice(0, 2), ...balanced.slice(3)];

  const inAccess = 'in AS64510 (Access Net)';

  it.each<[string, readonly Segment[], string]>([
    [
      'a hop is replaced',
      replaced,
      `path at hop 3: 198.51.100.9 ${inAccess} → 198.51.100.8 ${inAccess}, another router or the same one by another interface`,
    ],
    ['one hop more', longer, `path with 198.51.100.10 ${inAccess} in addition at hop 4; 6 → 7 hops`],
    ['one hop less', shorter, `path without 198.51.100.9 ${inAccess} at hop 3; 6 → 5 hops`],
  ])('is named in the next run of sixteen flows: %s', (_reason, path, text) => {
    for (const balancing of ['flow', 'packet'] as const) {
      for (let seed = 1; seed <= cases(10); seed += 1) {
        const random = seeded(seed);
        const options = { flows: 16, queries: 3, balancing, loss: seed % 2 === 0 ? 0 : 0.1 };
        const comparison = compared(
          'traceroute',
          { 'fra-1': traced(balanced, options, random) },
          { 'fra-1': traced(path, options, random) },
        );

        expect([pathOf(comparison).relation, comparison.result]).toEqual(['changed', 'different']);
        expect(comparison.probes['fra-1']!.differences).toContainEqual(
          expect.objectContaining({ certain: true, text }),
        );
      }
    }
  });

  it.each<[string, readonly Segment[], string]>([
    [
      'a hop is replaced',
      replaced,
      `Path at hop 3: 198.51.100.9 ${inAccess} → 198.51.100.8 ${inAccess}, a change, another interface of the same router`,
    ],
    ['one hop more', longer, `Path with 198.51.100.10 ${inAccess} in addition at hop 4; 6 → 7 hops, a change`],
  ])('is named as a possibility by single flows: %s', (_reason, path, sentence) => {
    const options = { flows: 1, queries: 3, balancing: 'flow' } as const;
    const [before, after] = [traced([...balanced], options, () => 0), traced([...path], options, () => 0)];

    const comparison = compared('traceroute', { 'fra-1': before }, { 'fra-1': after });

    expect([pathOf(comparison).relation, comparison.result]).toEqual(['unsure', 'unsure']);
    expect(comparison.sentence).toBe(
      `${sentence} or alternatives of a load balancer; 16 flows in both checks would tell if it is a balancer (fra-1).`,
    );
  });
});

describe('a way of a load balancer that is gone', () => {
  const two: readonly Segment[] = [
    '198.51.100.1',
    [
      ['198.51.100.2', '192.0.2.2'],
      ['198.51.100.3', '192.0.2.3'],
    ],
    '198.51.100.9',
  ];
  const one: readonly Segment[] = two.with(1, [['198.51.100.3', '192.0.2.3']]);
  const isOfSeveral = ({ a, b }: PathComparison['changes'][number]): boolean =>
    [...a, ...b].some(({ length }) => length > 1);
  const rates = (
    before: readonly Segment[],
    after: readonly Segment[],
    options: TraceOptions,
    runs = cases(150),
  ): number => {
    const random = seeded(3);
    const unsure = Array.from({ length: runs }, () => {
      const [a, b] = [traceOf(traced(before, options, random)), traceOf(traced(after, options, random))];
      return comparePaths(a, b);
    }).filter(({ relation, changes }) => relation === 'unsure' && changes.some(isOfSeveral));
    return unsure.length / runs;
  };
  const sixteen = { flows: 16, queries: 1, balancing: 'flow' } as const;

  it('is no proof, and not the same path, with both of its hops', () => {
    const random = seeded(1);
    const [a, b] = [traced(two, sixteen, random), traced(one, sixteen, random)];
    const lost = compared('traceroute', { 'fra-1': a }, { 'fra-1': b });
    const found = compared('traceroute', { 'fra-1': b }, { 'fra-1': a });

    expect([pathOf(lost).relation, lost.result]).toEqual(['unsure', 'unsure']);
    expect(lost.sentence).toMatch(
      /^Path at hops 2 to 3: 198\.51\.100\.\d or 198\.51\.100\.\d, 192\.0\.2\.\d or 192\.0\.2\.\d → 198\.51\.100\.3 in .*, 192\.0\.2\.3 in .*, fewer ways of a load balancer, unless chance missed one \(fra-1\)\.$/,
    );
    expect(found.sentence).toContain(', more ways of a load balancer, unless chance missed one (fra-1).');
  });

  it.each(['flow', 'packet'] as const)('is seldom missed by 16 flows over a balancer by %s', (balancing) => {
    expect(rates(two, one, { ...sixteen, balancing })).toBeGreaterThan(0.98);
  });

  it('is not the same path for a search of all paths, which asked as many flows as its rule demands', () => {
    const over = (links: readonly string[], hops: readonly string[]): ReturnType<typeof trace> =>
      trace(hops, { multipath: multipath(links), stopReason: 'completed' });
    const end = ['198.51.100.9 > 203.0.113.1 1/1'];
    const both = [
      'probe > 198.51.100.1 4/4',
      '198.51.100.1 > 198.51.100.2 7/7',
      '198.51.100.1 > 198.51.100.3 6/6',
      '198.51.100.2 > 198.51.100.9 6/6',
      '198.51.100.3 > 198.51.100.9 6/6',
      ...end,
    ];
    const lone = [
      'probe > 198.51.100.1 4/4',
      '198.51.100.1 > 198.51.100.3 6/6',
      '198.51.100.3 > 198.51.100.9 6/6',
      ...end,
    ];
    const pathOver = (routers: string): readonly string[] => [
      '198.51.100.1 1',
      `${routers} 2`,
      '198.51.100.9 3',
      '203.0.113.1 4',
    ];
    const [a, b] = [over(both, pathOver('198.51.100.2/198.51.100.3')), over(lone, pathOver('198.51.100.3'))];
    const few = over(lone.with(1, '198.51.100.1 > 198.51.100.3 3/3'), pathOver('198.51.100.3'));
    const relation = (after: typeof b) => pathOf(compared('traceroute', { 'fra-1': a }, { 'fra-1': after })).relation;

    expect([relation(b), relation(few)]).toEqual(['unsure', 'compatible']);
  });

  it('is not claimed with few flows, nor if as many flows got no answer at its hops', () => {
    const silent = new Set(['198.51.100.2', '192.0.2.2']);

    expect(rates(two, one, { ...sixteen, flows: 4 })).toBe(0);
    expect(rates(two, two, { ...sixteen, silent })).toBe(0);
  });

  const shares = (share: number): readonly Segment[] => [
    '198.51.100.1',
    [...Array.from({ length: share }, () => ['198.51.100.2']), ['198.51.100.3']],
    '198.51.100.9',
  ];
  const ways = (count: number): readonly Segment[] => [
    '198.51.100.1',
    Array.from({ length: count }, (_, index) => [`198.51.100.${index + 20}`]),
    '198.51.100.9',
  ];
  it.each<[string, readonly Segment[], TraceOptions]>([
    ['two ways', two, sixteen],
    ['two ways, loss of 10 %', two, { ...sixteen, loss: 0.1 }],
    ['four ways', ways(4), sixteen],
    ['eight ways', ways(8), sixteen],
    ['sixteen ways by packet', ways(16), { ...sixteen, queries: 3, balancing: 'packet' }],
    ['three to one', shares(3), sixteen],
    ['seven to one', shares(7), sixteen],
    ['fifteen to one', shares(15), sixteen],
  ])('is seldom doubted without a change: %s', (_shape, path, options) => {
    expect(rates(path, path, options)).toBeLessThanOrEqual(0.05);
  });
});

describe('two traces', () => {
  const one = ['198.51.100.1 1', '192.0.2.1 5', '203.0.113.1 9'];

  it.each<[string, readonly string[], readonly string[], PathComparison['relation']]>([
    ['equal', one, one, 'same'],
    ['a hop is silent', one, [one[0]!, '* *', one[2]!], 'compatible'],
    ['a hop hides its address', one, [one[0]!, 'private 5', one[2]!], 'compatible'],
    ['an alternative is seen by one only', one, [one[0]!, '192.0.2.1/192.0.2.2 5 5', one[2]!], 'compatible'],
    ['one ends in silence', one, [one[0]!, one[1]!, '* *', '* *'], 'compatible'],
    ['one ends earlier', one, [one[0]!, '* *'], 'compatible'],
    ['a silent hop more', one, [one[0]!, '* *', ...one.slice(1)], 'unsure'],
    ['another router', one, [one[0]!, '192.0.2.2 5', one[2]!], 'unsure'],
  ])('of agents that do not separate flows: %s', (_reason, a, b, relation) => {
    const [there, back] = [
      compared('traceroute', { 'fra-1': trace(a) }, { 'fra-1': trace(b) }),
      compared('traceroute', { 'fra-1': trace(b) }, { 'fra-1': trace(a) }),
    ];

    expect([pathOf(there).relation, pathOf(back).relation]).toEqual([relation, relation]);
  });

  it.each([
    ['another target', trace(one.with(2, '203.0.113.2 9'), { target: '203.0.113.2' })],
    ['another protocol', trace(one, { protocol: 'tcp' })],
    ['no hops', trace([])],
  ])('are not compared: %s', (_reason, b) => {
    const comparison = compared('traceroute', { 'fra-1': trace(one) }, { 'fra-1': b });

    expect(pathOf(comparison).relation).toBe('not_compared');
    expect(comparison.sentence).not.toContain('Path at');
  });

  it('name unanswered packets as a reason, if silent hops directly before the target are more or fewer', () => {
    const textOf = (a: readonly string[], b: readonly string[]): string =>
      compared('traceroute', { 'fra-1': trace(a) }, { 'fra-1': trace(b) }).sentence;
    const late = [...one.slice(0, 2), '* *', '* *', one[2]!];

    expect(textOf(one, late)).toBe(
      'Path with 2 silent hops in addition at hops 3 to 4; 3 → 5 hops, unanswered packets to the target, a change or alternatives of a load balancer (fra-1).',
    );
    expect(textOf(late, one)).toMatch(/^Path without 2 silent hops at hops 3 to 4; 5 → 3 hops, unanswered packets/);
    expect(textOf(one, [one[0]!, '* *', ...one.slice(1)])).not.toContain('unanswered');
  });

  it('of several probes share the text of a change', () => {
    const [a, b] = [each('fra-1 nyc-1', trace(one)), each('fra-1 nyc-1', trace(one.with(1, '192.0.2.2 5')))];

    const { differences, sentence } = compared('traceroute', a, b);

    expect(differences).toEqual([expect.objectContaining({ subject: 'path', probes: ['fra-1', 'nyc-1'] })]);
    expect(sentence).toContain('(both probes)');
  });
});
