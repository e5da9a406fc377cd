import { describe, expect, it } from '@jest/globals';

import { traced, TARGET, type Segment, type TraceOptions } from '../../../test/balanced-paths.ts';
import { summaryOf } from '../../../test/cases.ts';
import { flowsOf } from '../../../test/finding-cases/flows.ts';
import { seeded } from '@vantage/test-support/random/seeded';
import { trace } from '../../../test/results.ts';

const DRAWS = 20;
const id = (ip: string): string => `ip:${ip}`;

/** Edges of the graphs of `DRAWS` random traces, as `from to`; inferred edges are in a separate set. */
function edgesOver(path: readonly Segment[], options: TraceOptions): { sure: Set<string>; inferred: Set<string> } {
  const [sure, inferred] = [new Set<string>(), new Set<string>()];
  for (let draw = 1; draw <= DRAWS; draw += 1) {
    const { paths } = summaryOf('traceroute', { 'fra-1': traced(path, options, seeded(draw)) });
    for (const edge of paths!.edges) (edge.inferred === true ? inferred : sure).add(`${edge.from} ${edge.to}`);
  }
  return { sure, inferred };
}

/** The links of a path with alternatives. */
function linksOf(path: readonly Segment[]): ReadonlySet<string> {
  const links = new Set<string>();
  let ends: readonly string[] = ['probe:fra-1'];
  for (const segment of [...path, TARGET]) {
    const ways = typeof segment === 'string' ? [[segment]] : segment;
    for (const way of ways) {
      for (const [index, ip] of way.entries())
        for (const from of index === 0 ? ends : [id(way[index - 1]!)]) links.add(`${from} ${id(ip)}`);
    }
    ends = ways.map((way) => id(way.at(-1)!));
  }
  return links;
}

const [a, b, c, d, end] = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4', '192.0.2.9'];
const unequal: readonly Segment[] = ['198.51.100.1', [[a], [b, c]], d, end];
const equal: readonly Segment[] = [
  '198.51.100.1',
  [
    [a, b],
    [c, d],
  ],
  end,
];
const crossed: readonly Segment[] = ['198.51.100.1', [[a], [b]], [[c], [d]], end];

describe('links of numbered flows', () => {
  it.each<[string, number, number, readonly Segment[]]>([
    ['ways of different length', 16, 1, unequal],
    ['ways of different length', 8, 2, unequal],
    ['ways of one length', 16, 1, equal],
    ['ways of one length', 8, 2, equal],
  ])(
    'that do not exist are inferred: %s behind a balancer by packet, %i flows, %i queries',
    (_ways, flows, queries, path) => {
      const exist = linksOf(path);
      const { sure } = edgesOver(path, { flows, queries, balancing: 'packet' });

      expect([...sure].filter((link) => !exist.has(link))).toEqual([]);
      expect(sure).toContain(`probe:fra-1 ${id('198.51.100.1')}`);
    },
  );

  it('that may not exist are inferred from the first hop on whose few answers may not show all its routers', () => {
    const path = ['198.51.100.1 1', `${b} 2`, `${d} 3`, `${d}/${end} 4`, `${end}/${TARGET} 5`, `${TARGET} 6`];
    const flows = flowsOf('0 0 0 0 0 0', '0 0 0 1 1', '0 0 0 1 1').map((flow) => ({ ...flow, reached: true }));
    const { paths } = summaryOf('traceroute', { 'fra-1': trace(path, { flows }) });
    const sure = paths!.edges.filter(({ inferred }) => inferred !== true).map(({ to }) => to);

    expect(sure).not.toContain(id(d));
  });

  it.each<[string, number, number, readonly Segment[]]>([
    ['ways of different length', 16, 1, unequal],
    ['ways of one length', 16, 1, equal],
    ['ways of one length', 8, 2, equal],
    ['ways that cross, shown by repeats', 8, 2, crossed],
  ])('are sure behind a balancer by flow: %s, %i flows, %i queries', (_ways, flows, queries, path) => {
    const { sure, inferred } = edgesOver(path, { flows, queries, balancing: 'flow' });

    expect(inferred).toEqual(new Set());
    expect(sure).toEqual(linksOf(path));
  });
});
