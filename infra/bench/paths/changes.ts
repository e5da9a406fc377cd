import { compared } from '../../../packages/summary/test/compared.ts';
import { traced, type Segment, type TraceOptions } from '../../../packages/summary/test/balanced-paths.ts';
import { seeded } from '../../../packages/summary/test/generate.ts';
import type { Figure } from '../goals.ts';

const RUNS = 10_000;
const CHANGES = 200;
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
 * Compares modelled traces with the one before: those of an unchanged network are no change, and with sixteen flows each
 * replaced, missing or added router is one in the next run.
 */
export async function findsPathChanges(): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const [name, options] of kinds) {
    const random = seeded(figures.length + 1);
    let before = traced(balanced, options, random);
    let wrong = 0;
    for (let run = 0; run < RUNS; run += 1) {
      if (run % AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
      const after = traced(balanced, options, random);
      if (isChange(before, after)) wrong += 1;
      before = after;
    }
    figures.push({ name: `false changes of a path, ${name}`, value: wrong, unit: `of ${RUNS}`, atMost: 0 });
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
  ];
}

type Traced = ReturnType<typeof traced>;

function isChange(a: Traced, b: Traced): boolean {
  return compared('traceroute', { 'fra-1': a }, { 'fra-1': b }).probes['fra-1']!.path!.relation === 'changed';
}
