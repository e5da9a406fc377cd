import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';

import { openHistory, readHistory, type Answer, type FaultRecord, type HistoryRecord } from './history.ts';
import { verifyHistory } from './verify-history.ts';
import { rules, type Rule } from './ledger.ts';

const T = 1_800_000_000_000;
const BUDGET_MS = 5_000;
const iso = (ms: number): string => new Date(T + ms).toISOString();

const pending = { result: 'pending' };
const success = { result: 'success', rt: 1 };
const unresolved = { result: 'timeout', error: { code: 'timed_out', phase: 'resolve', source: 'network' } };
const timedOut = { result: 'timeout', error: { code: 'probe_timeout', source: 'probe' } };

let number = 0;
/** An answer to a request that was sent at `from` and answered at `to`, milliseconds since the beginning. */
function answer(from: number, to: number, more: Partial<Answer>): Answer {
  number += 1;
  const fixed = {
    kind: 'answer',
    number,
    from: 'coordinator-1',
    operation: 'results',
    fault: 'trial',
    ran: true,
  } as const;
  return { ...fixed, at: T + from, doneAt: T + to, check: 'a', ...more };
}

const start = (more: Partial<Answer> = {}): Answer =>
  answer(0, 10, {
    operation: 'start',
    check: undefined,
    budgetMs: BUDGET_MS,
    status: 202,
    body: { checkId: 'a' },
    ...more,
  });

const read = (at: number, results: object, completedAt: number | null = null): Answer =>
  answer(at, at + 10, {
    status: 200,
    body: {
      status: completedAt === null ? 'pending' : 'completed',
      createdAt: iso(5),
      results,
      completedAt: completedAt === null ? null : iso(completedAt),
    },
  });

const stall = (from: number, to: number): HistoryRecord => ({ kind: 'stall', from: T + from, to: T + to });

const summary = (at: number, status: string, verdict: string, counts: object): Answer =>
  answer(at, at + 10, {
    operation: 'summary',
    status: 200,
    body: { status, verdict, counts: { up: 0, down: 0, silent: 0, notMeasured: 0, pending: 0, ...counts } },
  });

/** A stream and its events, `[id, probe or null at the end, state]`. */
function stream(
  at: number,
  lastEventId: number | undefined,
  events: readonly (readonly [id: number, probe: string | null, state: object])[],
): readonly HistoryRecord[] {
  const opened = answer(at, at + 100, { operation: 'events', status: 200, lastEventId });
  const seen = events.map(([id, probe, state], index) => ({
    ...({ kind: 'event', stream: opened.number, check: 'a', at: T + at + index, fault: 'trial', id } as const),
    name: probe === null ? 'completed' : 'probe',
    data:
      probe === null
        ? { status: 'completed', createdAt: iso(5), completedAt: iso(3_000), results: state }
        : { probe, result: state },
  }));
  return [...seen, opened];
}

const fault = (harmed: readonly string[], from = 0, to = 1_000, name = 'trial'): FaultRecord => ({
  kind: 'fault',
  name,
  harmed,
  from: T + from,
  to: T + to,
});

const setup: HistoryRecord = { kind: 'setup', store: 'single', indulgenceMs: 0 };
const kept = (keptMs: number): HistoryRecord => ({ ...setup, keptMs });
const both = { x: success, y: success };

function broken(...records: readonly (HistoryRecord | readonly HistoryRecord[])[]): Partial<Record<Rule, number>> {
  const tallies = verifyHistory([setup, ...records.flat()]);
  return Object.assign({}, ...tallies.map((tally) => tally.broken));
}

describe('a history without a broken promise', () => {
  it.each<readonly [string, readonly (HistoryRecord | readonly HistoryRecord[])[]]>([
    [
      'a check that is followed, broken off, resumed and read',
      [
        start(),
        stream(20, undefined, [
          [0, 'x', pending],
          [0, 'y', pending],
          [1, 'x', { result: 'pending', rt: 1 }],
        ]),
        read(100, { x: { result: 'pending', rt: 1 }, y: pending }),
        summary(150, 'pending', 'unknown', { pending: 2 }),
        stream(900, 1, [
          [3, 'y', success],
          [4, 'x', { ...success, screenshotUrl: '/p' }],
          [5, null, both],
        ]),
        read(3_100, { x: { ...success, screenshot: 'data:' }, y: success }, 3_000),
        summary(3_200, 'completed', 'up', { up: 2 }),
        read(9_000, both, 3_000),
      ],
    ],
    [
      'a name that was not resolved, which is no measurement',
      [
        start(),
        read(3_100, { x: unresolved, y: success }, 3_000),
        summary(3_200, 'completed', 'up', { up: 1, notMeasured: 1 }),
      ],
    ],
    [
      'a result that a reader saw before a slower reader did not',
      [start(), read(50, both, 40), answer(30, 300, { status: 200, body: read(0, { x: pending, y: pending }).body })],
    ],
    ['an evicted result that says so', [start(), read(50, both, 40), answer(100, 110, { status: 410, body: {} })]],
    [
      'an evicted result whose reason is no longer kept either',
      [
        start(),
        read(50, both, 40),
        answer(100, 110, { status: 410, body: {} }),
        answer(120, 130, { status: 404, body: {} }),
      ],
    ],
    [
      'a completed check that is kept no longer',
      [kept(60_000), start(), read(3_100, both, 3_000), answer(60_001, 60_010, { status: 404 })],
    ],
    [
      'lateness by an outage',
      [
        start(),
        { kind: 'outage', from: T + 1_000, to: T + 5_000 },
        { kind: 'stall', from: T + 4_000, to: T + 6_000 },
        read(11_500, { x: pending, y: pending }),
        read(12_100, both, 12_000),
      ],
    ],
    [
      'a check of the phase without a fault that the next fault reaches',
      [
        start({ fault: 'none' }),
        fault([], 0, 1, 'none'),
        fault(['probes'], 2_000, 4_000),
        read(3_100, { x: timedOut, y: success }, 3_000),
      ],
    ],
    ['a step of the clock of the store', [start(), fault(['clock']), read(2_000, both, 3_600_000)]],
    [
      'a refusal in an outage of the store',
      [start(), read(50, both, 40), fault(['store']), answer(5_500, 5_600, { status: 503, retryAfter: true })],
    ],
    [
      'a refusal by the coordinator that is cut off',
      [fault(['coordinator-1']), answer(500, 600, { status: 503, retryAfter: true })],
    ],
    [
      'a new check refused while probes are away',
      [
        fault(['probes']),
        answer(5, 6, { operation: 'start', status: 503, retryAfter: true }),
        answer(5, 6, { operation: 'start', status: 422 }),
      ],
    ],
    ['a request that ends with its coordinator', [answer(5, 6, { error: 'socket hang up', ran: false })]],
    [
      'no answer of a coordinator that stands still',
      [fault(['coordinator-1']), answer(5, 20_005, { error: 'timeout' })],
    ],
    ['a probe that comes back', [{ kind: 'recovery', fault: 'trial', probe: 'x', from: T, ms: 4_900 }]],
    [
      'a refusal while the machine stalls, and of a new check a while after',
      [
        { kind: 'stall', from: T, to: T + 6_000 },
        answer(6_500, 6_600, { status: 503, retryAfter: true }),
        answer(25_000, 25_001, { operation: 'start', status: 503, retryAfter: true }),
      ],
    ],
    [
      'a probe that comes back late by a stall',
      [
        { kind: 'recovery', fault: 'trial', probe: 'x', from: T, ms: 5_900 },
        { kind: 'stall', from: T + 1_000, to: T + 2_000 },
      ],
    ],
    [
      'two clients of one check',
      [
        start(),
        stream(10, undefined, [
          [2, 'x', success],
          [3, null, { x: success }],
        ]),
        stream(20, undefined, [
          [2, 'x', success],
          [3, null, { x: success }],
        ]),
        read(50, { x: success }, 3_000),
      ],
    ],
  ])('%s', (_what, records) => {
    expect(broken(...records)).toEqual({});
  });
});

const done = [read(3_100, both, 3_000)];
const cases: Readonly<
  Record<Rule, readonly (readonly [string, readonly (HistoryRecord | readonly HistoryRecord[])[]])[]>
> = {
  late: [
    ['completed too late by the clock of the store', [start(), read(7_500, both, 7_100)]],
    [
      'pending too late by the clock of the reader',
      [start(), fault(['clock'], 0, 9_000), read(7_100, { x: pending, y: pending }), read(7_900, both, 3_000)],
    ],
    [
      'later than by its outage',
      [start(), { kind: 'outage', from: T + 1_000, to: T + 2_000 }, read(8_500, both, 8_100)],
    ],
    [
      'an outage after the end excuses nothing',
      [start(), read(7_500, both, 7_100), { kind: 'outage', from: T + 7_200, to: T + 9_000 }],
    ],
    ['never seen completed', [start(), read(50, { x: pending, y: pending })]],
    ['never seen at all', [start()]],
  ],
  changed: [
    ['two readers, two results', [start(), ...done, read(3_300, { x: timedOut, y: success }, 3_000)]],
    ['an event and a reader', [start(), stream(20, undefined, [[1, 'x', timedOut]]), ...done]],
  ],
  reopened: [
    ['a check', [start(), ...done, read(4_000, both)]],
    [
      'a probe whose final result an event had',
      [start(), stream(20, undefined, [[1, 'x', success]]), read(60, { x: pending, y: pending }), ...done],
    ],
  ],
  lost: [
    ['404', [start(), ...done, answer(4_000, 4_010, { status: 404 })]],
    ['404 before the end of its time', [kept(60_000), start(), ...done, answer(59_990, 60_010, { status: 404 })]],
    ['404 for its events', [start(), ...done, answer(4_000, 4_010, { status: 404, operation: 'events' })]],
  ],
  incomplete: [
    ['completed and a result pending', [start(), read(3_100, { x: success, y: pending }, 3_000)]],
    ['completed without results', [start(), read(3_100, {}, 3_000)]],
  ],
  events: [
    [
      'an event again after resuming',
      [start(), stream(20, undefined, [[1, 'x', pending]]), stream(90, 1, [[1, 'x', pending]]), ...done],
    ],
    [
      'an event out of order',
      [
        start(),
        stream(20, undefined, [
          [2, 'x', pending],
          [1, 'y', pending],
        ]),
        ...done,
      ],
    ],
    [
      'the end without a final result',
      [
        start(),
        stream(20, undefined, [
          [1, 'x', success],
          [3, null, both],
        ]),
        ...done,
      ],
    ],
    [
      'the end with a state that was not sent',
      [
        start(),
        stream(20, undefined, [
          [1, 'x', pending],
          [2, 'y', success],
          [3, null, both],
        ]),
        ...done,
      ],
    ],
    [
      'two ends',
      [
        start(),
        stream(20, undefined, [
          [1, 'x', success],
          [2, null, { x: success }],
        ]),
        stream(90, 2, [[3, null, { x: success }]]),
        ...done,
      ],
    ],
  ],
  summary: [
    ['a probe too few', [start(), ...done, summary(3_200, 'completed', 'up', { up: 1 })]],
    ['down, of two successes', [start(), ...done, summary(3_200, 'completed', 'down', { down: 2 })]],
    [
      'not measured, of two successes',
      [start(), ...done, summary(3_200, 'completed', 'partial', { up: 1, notMeasured: 1 })],
    ],
    [
      'up, though no probe measured',
      [start(), read(3_100, { x: timedOut }, 3_000), summary(3_200, 'completed', 'up', { notMeasured: 1 })],
    ],
    [
      'silent, though the resolver was',
      [
        start(),
        read(3_100, { x: unresolved, y: success }, 3_000),
        summary(3_200, 'completed', 'up', { up: 1, silent: 1 }),
      ],
    ],
    ['pending after the end', [start(), ...done, summary(3_200, 'pending', 'unknown', { pending: 2 })]],
    [
      'another one than before',
      [
        start(),
        ...done,
        summary(3_200, 'completed', 'up', { up: 2 }),
        summary(3_300, 'completed', 'degraded', { up: 2 }),
      ],
    ],
  ],
  unexplained: [
    ['without any fault', [answer(5, 6, { status: 503, retryAfter: true })]],
    [
      'by a stall that is too short, or over',
      [
        { kind: 'stall', from: T, to: T + 400 },
        answer(500, 600, { status: 503, retryAfter: true }),
        answer(4_000, 4_001, { operation: 'start', status: 503, retryAfter: true }),
      ],
    ],
    ['long after the fault', [fault(['store']), answer(6_100, 6_200, { status: 503, retryAfter: true })]],
    ['by the other coordinator', [fault(['coordinator-2']), answer(500, 600, { status: 503, retryAfter: true })]],
    ['a read, while only probes are away', [fault(['probes']), answer(500, 600, { status: 503, retryAfter: true })]],
  ],
  control: [
    ['refused', [answer(5, 6, { status: 503, retryAfter: true, fault: 'none' })]],
    ['timed out', [start({ fault: 'none' }), read(3_100, { x: timedOut, y: success }, 3_000)]],
    [
      'timed out before the next fault',
      [start({ fault: 'none' }), read(3_100, { x: timedOut, y: success }, 3_000), fault(['probes'], 3_200, 4_000)],
    ],
  ],
  unanswered: [
    ['without any fault', [answer(5, 6, { error: 'socket hang up' })]],
    ['while the other one stands still', [fault(['coordinator-2']), answer(5, 6, { error: 'socket hang up' })]],
  ],
  wrong: [
    ['500', [answer(5, 6, { status: 500 })]],
    ['503 without Retry-After', [fault(['store']), answer(5, 6, { status: 503 })]],
    ['429 for a client within its limits', [answer(5, 6, { status: 429, retryAfter: true })]],
    ['422 though all probes are there', [answer(5, 6, { operation: 'start', status: 422 })]],
  ],
  unended: [['a login that goes on', [{ ...fault([]), unended: 'A stolen login was not suspended.' }]]],
  deaf: [
    ['no success at all', [{ kind: 'recovery', fault: 'trial', probe: 'x', from: T, ms: null }]],
    ['no success in time', [{ kind: 'recovery', fault: 'trial', probe: 'x', from: T, ms: 5_100 }]],
    [
      'later than by the stall',
      [
        { kind: 'recovery', fault: 'trial', probe: 'x', from: T, ms: 6_100 },
        { kind: 'stall', from: T - 500, to: T + 1_000 },
      ],
    ],
  ],
};

describe('a history with a broken promise', () => {
  it.each(Object.entries(cases).flatMap(([rule, all]) => all.map(([what, records]) => [rule, what, records] as const)))(
    '%s: %s',
    (rule, _what, records) => {
      expect(Object.keys(broken(...records))).toEqual([rule]);
    },
  );

  it('is known for every rule', () => {
    expect(Object.keys(cases).toSorted()).toEqual(Object.keys(rules).toSorted());
  });
});

describe('results that timed out', () => {
  it.each([
    ['no stall', [], 0],
    ['stalls of less than a second together', [stall(100, 500), stall(900, 1_400)], 0],
    ['a second of stalls', [stall(100, 500), stall(900, 1_500)], 1],
  ])('are laid to the machine only if it lost a second: %s', (_what, stalls, byStalls) => {
    const tallies = verifyHistory([setup, start(), read(3_100, { x: timedOut, y: success }, 3_000), ...stalls]);

    expect(tallies).toEqual([expect.objectContaining({ timedOut: 1, timedOutByStalls: byStalls })]);
  });
});

describe('the file of a history', () => {
  it('says what was added, with the bodies that were repeated', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'vantage-test-'));
    const file = join(folder, 'history.jsonl');
    const records = [setup, start(), read(20, { x: pending }), read(60, { x: pending }), read(90, { x: success }, 80)];
    const history = openHistory(file);
    for (const record of records) history.add(record);
    await history.close();

    const known = readHistory(file).map((record) => {
      const { sameAs: _number, ...rest } = record as Answer;
      return rest;
    });

    expect(known).toEqual(JSON.parse(JSON.stringify(records)));
    rmSync(folder, { recursive: true });
  });
});
