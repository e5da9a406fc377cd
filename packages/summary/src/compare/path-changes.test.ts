import { describe, expect, it } from '@jest/globals';
import type { Check } from '@vantage/contract';
import { cases } from '@vantage/test-support/random/case-count';

import { traced, type Segment, type TraceOptions } from '../../test/balanced-paths.ts';
import { CHECK_ID } from '../../test/cases.ts';
import { seeded, type Random } from '@vantage/test-support/random/seeded';
import { trace } from '../../test/results.ts';
import { followPath, followWays, MOST_PATH_RUNS, pathChangeSentence, reachedFrom } from './path-changes.ts';

const at = '2026-01-01T00:00:00.000Z';
const path: readonly Segment[] = [
  '198.51.100.1',
  [['198.51.100.2'], ['198.51.100.3']],
  '198.51.100.9',
  [['192.0.2.2'], ['192.0.2.3'], ['192.0.2.4'], ['192.0.2.5']],
  '192.0.2.9',
];
const replaced: readonly Segment[] = path.with(2, '198.51.100.8');
/** Flows and queries of a monitor's traceroute by default, over a per-packet balancer. */
const options = { flows: 16, queries: 1, balancing: 'packet' } as const satisfies TraceOptions;

function checkOf(result: ReturnType<typeof trace>): Check {
  const check = { testId: CHECK_ID, type: 'traceroute', host: 'example.com', status: 'completed' } as const;
  return { ...check, createdAt: at, completedAt: at, results: { 'fra-1': result } };
}

const checksOf = (runs: readonly { readonly check: Check }[]): readonly Check[] => runs.map(({ check }) => check);

/** Follows runs as a monitor does; returns the numbers of those with a change. */
function changesOver(runs: number, traceAt: (run: number, random: Random) => ReturnType<typeof trace>): number[] {
  const random = seeded(7);
  const changes: number[] = [];
  let baseline: Check | undefined;
  let recent: readonly { readonly check: Check; readonly hash: string }[] = [];
  for (let run = 0; run < runs; run += 1) {
    const check = checkOf(traceAt(run, random));
    const step = baseline === undefined ? undefined : followPath(baseline, check, 'fra-1');
    if (step !== undefined && step.text !== null) changes.push(run);
    if (step !== undefined && step.hash !== null) {
      recent = [...(step.text === null ? recent : []), { check, hash: step.hash }].slice(-MOST_PATH_RUNS);
      const isMixed = new Set(recent.map(({ hash }) => hash)).size > 1;
      const ways = isMixed ? followWays(checksOf(recent), 'fra-1') : undefined;
      if (ways !== undefined) {
        changes.push(run);
        recent = recent.slice(-ways.later);
        baseline = check;
      }
    }
    if (step?.isBaseline === true || (baseline === undefined && reachedFrom(check).length > 0)) baseline = check;
  }
  return changes;
}

describe('the path of a monitor', () => {
  // `npm run -s bench -- paths --only changes` has 10,000 runs of similar balancers, without loss.
  it.each([
    [cases(400), 'packet', 0],
    [cases(200), 'packet', 0.1],
    [cases(400), 'flow', 0],
  ] as const)('does not change in %i runs over balancers by %s with a loss of %d', (runs, balancing, loss) => {
    expect(changesOver(runs, (_, random) => traced(path, { ...options, balancing, loss }, random))).toEqual([]);
  });

  it.each<[string, readonly Segment[], Partial<TraceOptions>, readonly Segment[]]>([
    ['a balancer of flows has lost a way', path, { balancing: 'flow' }, path.with(1, '198.51.100.2')],
    ['a balancer of packets has lost a way', path, {}, path.with(1, '198.51.100.2')],
    ['a balancer has gained a way', path.with(1, '198.51.100.2'), { balancing: 'flow' }, path],
    ['a balancer has gained a way, with loss', path.with(1, '198.51.100.2'), { balancing: 'flow', loss: 0.05 }, path],
    [
      'one of four ways is gone',
      path,
      { balancing: 'flow' },
      path.with(3, [['192.0.2.2'], ['192.0.2.3'], ['192.0.2.4']]),
    ],
  ])('shows in few runs that %s, once', (_reason, before, more, after) => {
    const changes = changesOver(30, (run, random) =>
      traced(run < 10 ? before : after, { ...options, ...more }, random),
    );

    expect(changes).toHaveLength(1);
    expect(changes[0]).toBeGreaterThanOrEqual(10);
    expect(changes[0]).toBeLessThan(20);
  });

  it('says which ways are gone', () => {
    const random = seeded(5);
    const checks = Array.from({ length: 10 }, (_, run) =>
      checkOf(traced(run < 5 ? path : path.with(1, '198.51.100.2'), { ...options, balancing: 'flow' }, random)),
    );

    expect(followWays(checks.slice(0, 5), 'fra-1')).toBeUndefined();
    expect(followWays(checks, 'fra-1')).toEqual({
      text: 'path at hop 2: 198.51.100.2 or 198.51.100.3 → 198.51.100.2 in AS64510 (Access Net), fewer ways of a load balancer',
      change: 'ways',
      move: {
        hop: 2,
        from: [['198.51.100.2', '198.51.100.3']],
        to: [['198.51.100.2']],
        networksGone: [],
        networksNew: [],
      },
      later: 5,
    });
  });

  it('says which router was replaced if one run has too few flows to prove it, and names no load balancer', () => {
    const random = seeded(6);
    const own = ['198.51.100.1', '198.51.100.2', '198.51.100.9'];
    const few = { ...options, flows: 6, balancing: 'flow' } as const;
    const runs = Array.from({ length: 10 }, (_, run) =>
      checkOf(traced(run < 5 ? own : own.with(1, '198.51.100.8'), few, random)),
    );

    expect(followPath(runs[4]!, runs[5]!, 'fra-1')!.relation).toBe('unsure');
    expect(followWays(runs, 'fra-1')).toMatchObject({
      text: expect.stringMatching(
        /^path at hop 2: 198\.51\.100\.2 in AS64510 \(Access Net\) → 198\.51\.100\.8 .*, another router or the same one by/,
      ),
      change: 'hop',
      move: { from: [['198.51.100.2']], to: [['198.51.100.8']] },
      later: 5,
    });
  });

  it('has no lost way if its router falls silent', () => {
    const silent = new Set(['198.51.100.3']);
    const changes = changesOver(60, (run, random) =>
      traced(path, { ...options, balancing: 'flow', ...(run < 10 ? {} : { silent }) }, random),
    );

    expect(changes).toEqual([]);
  });

  it('changes in the run after each real change, and in no other', () => {
    const isReplaced = (run: number): boolean => Math.floor(run / 10) % 2 === 1;
    const changes = changesOver(400, (run, random) => traced(isReplaced(run) ? replaced : path, options, random));

    expect(changes).toEqual(Array.from({ length: 39 }, (_, index) => 10 * (index + 1)));
  });

  it('changes once if the change comes with an outage', () => {
    const outage = trace(['198.51.100.1 1', '* *', '* *', '* *', '* *']);
    const changes = changesOver(30, (run, random) =>
      run >= 10 && run < 20 ? outage : traced(run < 10 ? path : replaced, options, random),
    );

    expect(changes).toEqual([20]);
  });

  it.each<[string, 'path' | 'hop', readonly Segment[], string]>([
    ['one hop answers from another address', 'hop', replaced, 'another router or the same one by another interface'],
    [
      'hops apart answer from other addresses',
      'hop',
      replaced.with(4, '192.0.2.8'),
      'other routers or the same ones by other interfaces',
    ],
    [
      'hops in a row answer from other addresses',
      'path',
      [...path.slice(0, 3), '192.0.2.6', '192.0.2.8'],
      ', unless these routers answer by other interfaces',
    ],
    [
      'a hop is added',
      'path',
      [...path.slice(0, 3), '198.51.100.10', ...path.slice(3)],
      'in addition at hop 4; 6 → 7 hops',
    ],
  ])('changes no more than the answers show: %s', (_reason, change, after, text) => {
    const traceOf = (own: readonly Segment[], seed: number) => checkOf(traced(own, options, seeded(seed)));
    const step = followPath(traceOf(path, 1), traceOf(after, 2), 'fra-1');

    expect(step).toMatchObject({ relation: 'changed', change });
    expect(step!.text!.endsWith(text)).toBe(true);
  });

  it('has its addresses, and the networks that are gone or new on it', () => {
    const own = ['198.51.100.1', '198.51.100.2', '198.51.100.9', '192.0.2.2', '192.0.2.9'];
    const moveTo = (after: readonly Segment[]) =>
      followPath(checkOf(traced(own, options, seeded(1))), checkOf(traced(after, options, seeded(2))), 'fra-1')!.move;

    const rerouted: readonly Segment[] = [
      '198.51.100.1',
      '198.51.100.2',
      '198.51.100.9',
      '198.51.100.7',
      '198.51.100.8',
    ];
    expect(moveTo(rerouted)).toEqual({
      hop: 4,
      from: [['192.0.2.2'], ['192.0.2.9']],
      to: [['198.51.100.7'], ['198.51.100.8']],
      networksGone: ['AS64511'],
      networksNew: [],
    });
    expect(moveTo(own.with(2, '198.51.100.8'))).toMatchObject({ hop: 3, networksGone: [], networksNew: [] });
    expect(moveTo(own)).toBeNull();
  });

  it('is one sentence, probes with the same change together', () => {
    const texts = new Map([
      ['nyc-1', 'path at hop 3: a → b'],
      ['fra-1', 'path at hop 3: a → b'],
    ]);

    expect(pathChangeSentence(texts)).toBe('Path at hop 3: a → b (fra-1 and nyc-1).');
  });
});
