import { compared } from '../../../packages/summary/test/compared.ts';
import { traced, type Segment, type TraceOptions } from '../../../packages/summary/test/balanced-paths.ts';
import { followWays, MOST_PATH_RUNS } from '../../../packages/summary/src/index.ts';
import type { Check } from '../../../packages/contract/src/index.ts';
import { seeded } from '@vantage/test-support/random/seeded';
import type { Figure } from '../goals.ts';

const RUNS = 10_000;
const CHANGES = 200;
/** Maximum number of runs until a lost or new path of a load balancer must be named. */
const RUNS_UNTIL_NAMED = 10;
const RUNS_BEFORE = 12;
/** Comparisons between two yields to the event loop, so that progress is displayed and signals are handled. */
const AT_ONCE = 100;

const balanced: readonly Segment[] = [
  '198.51.100.1',
  [['198.51.100.2'], ['198.51.100.3']],
  '198.51.100.9',
  [['192.0.2.2'], ['192.0.2.3'], ['192.0.2.4'], ['192.0.2.5']],
  '192.0.2.9',
];

/** Paths of which one router is replaced, missing or added. */
const changed: readonly (readonly Segment[])[] = [
  [...balanced.slice(0, 2), '198.51.100.8', ...balanced.slice(3)],
  [...balanced.slice(0, 2), ...balanced.slice(3)],
  [...balanced.slice(0, 3), '198.51.100.10', ...balanced.slice(3)],
];

const kinds: readonly (readonly [name: string, options: TraceOptions])[] = [
  ['per packet, one flow', { flows: 1, queries: 3, balancing: 'packet' }],
  ['per packet, sixteen flows', { flows: 16, queries: 1, balancing: 'packet' }],
  ['per flow with new ports, sixteen flows', { flows: 16, queries: 1, balancing: 'flow' }],
];

/**
 * Compares modelled traces with the previous one. Goals: an unchanged network has no changes; with sixteen flows, the
 * next run names each replaced, missing or added router, and most lost and new paths are named within
 * `RUNS_UNTIL_NAMED` runs.
 */
export async function findsPathChanges(): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const [name, options] of kinds) {
    const random = seeded(figures.length + 1);
    let before = traced(balanced, options, random);
    let [wrong, wrongWays] = [0, 0];
    const last: Check[] = [checkOf(before)];
    for (let run = 0; run < RUNS; run += 1) {
      if (run % AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
      const after = traced(balanced, options, random);
      if (isChange(before, after)) wrong += 1;
      before = after;
      last.push(checkOf(after));
      if (last.length > MOST_PATH_RUNS) last.shift();
      if (followWays(last, 'fra-1') !== undefined) wrongWays += 1;
    }
    figures.push({ name: `false changes of a path, ${name}`, value: wrong, unit: `of ${RUNS}`, atMost: 0 });
    figures.push({ name: `false changes of ways, ${name}`, value: wrongWays, unit: `of ${RUNS}`, atMost: 0 });
  }
  const random = seeded(99);
  let named = 0;
  for (let run = 0; run < CHANGES; run += 1) {
    const options = { flows: 16, queries: 1, balancing: run % 2 === 0 ? 'packet' : 'flow' } as const;
    const [before, after] = [balanced, changed[run % changed.length]!].map((path) => traced(path, options, random));
    if (isChange(before!, after!)) named += 1;
  }
  return [
    ...figures,
    { name: 'real changes named in the next run', value: named, unit: `of ${CHANGES}`, atLeast: CHANGES },
    {
      name: `lost and new ways named within ${RUNS_UNTIL_NAMED} runs`,
      value: waysNamed(random),
      unit: `of ${CHANGES}`,
      atLeast: 0.95 * CHANGES,
    },
  ];
}

/**
 * Number of monitors that name a lost or new path of a per-flow balancer with two or four paths after `RUNS_BEFORE`
 * runs.
 */
function waysNamed(random: ReturnType<typeof seeded>): number {
  const fewer = [balanced.with(1, '198.51.100.2'), balanced.with(3, [['192.0.2.2'], ['192.0.2.3'], ['192.0.2.4']])];
  let named = 0;
  for (let run = 0; run < CHANGES; run += 1) {
    const ways = [balanced, fewer[run % fewer.length]!] as const;
    const [before, after] = run % 4 < 2 ? ways : [ways[1], ways[0]];
    const checks = Array.from({ length: RUNS_BEFORE + RUNS_UNTIL_NAMED }, (_, index) =>
      checkOf(traced(index < RUNS_BEFORE ? before : after, { flows: 16, queries: 1, balancing: 'flow' }, random)),
    );
    const isNamed = (count: number): boolean =>
      followWays(checks.slice(Math.max(0, count - MOST_PATH_RUNS), count), 'fra-1') !== undefined;
    if (checks.some((_, index) => index >= RUNS_BEFORE && isNamed(index + 1))) named += 1;
  }
  return named;
}

function checkOf(result: Traced): Check {
  const at = '2026-01-01T00:00:00.000Z';
  const check = {
    testId: 'qPUXvL1sQx2rGJm0Zf7N4w',
    type: 'traceroute',
    host: 'example.com',
    status: 'completed',
  } as const;
  return { ...check, createdAt: at, completedAt: at, results: { 'fra-1': result } };
}

type Traced = ReturnType<typeof traced>;

function isChange(a: Traced, b: Traced): boolean {
  return compared('traceroute', { 'fra-1': a }, { 'fra-1': b }).probes['fra-1']!.path!.relation === 'changed';
}
