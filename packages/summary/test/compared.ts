import type { Check, Comparison, PublicRequest, Verdict } from '@vantage/contract';
import type { CheckTypeName } from '@vantage/diagnostics/contract';

import { compareChecks, type ComparedCheck } from '../src/compare/compare-checks.ts';
import { summarize } from '../src/summarize.ts';
import { CHECK_ID, factsOf, type Result } from './cases.ts';

/** Compares two checks with the given results by probe id. */
export function compared<T extends CheckTypeName>(
  type: T,
  a: Readonly<Record<string, Result<T>>>,
  b: Readonly<Record<string, Result<T>>>,
  asked: {
    readonly hosts?: readonly [string, string];
    readonly requests?: readonly [PublicRequest, PublicRequest];
  } = {},
): Comparison {
  const { hosts = ['example.com', 'example.com'], requests } = asked;
  const [checkOfA, checkOfB] = [checkOf(type, a, hosts[0], requests?.[0]), checkOf(type, b, hosts[1], requests?.[1])];
  return compareChecks(
    { check: checkOfA, summary: summarize(checkOfA, factsOf(Object.keys(a))) },
    { check: checkOfB, summary: summarize(checkOfB, factsOf(Object.keys(b))) },
  );
}

/** Compares two checks whose verdict is known: without summaries, many comparisons take less time. */
export function comparedWithVerdict<T extends CheckTypeName>(
  verdict: Verdict,
  type: T,
  a: Readonly<Record<string, Result<T>>>,
  b: Readonly<Record<string, Result<T>>>,
): Comparison {
  const sideOf = (results: typeof a): ComparedCheck => ({
    check: checkOf(type, results, 'example.com'),
    summary: { verdict },
  });
  return compareChecks(sideOf(a), sideOf(b));
}

function checkOf<T extends CheckTypeName>(
  type: T,
  results: Readonly<Record<string, Result<T>>>,
  host: string,
  request?: PublicRequest,
): Check {
  const createdAt = '2026-01-01T00:00:00.000Z';
  return {
    testId: CHECK_ID,
    type,
    host,
    ...(request === undefined ? {} : { request }),
    status: 'completed',
    createdAt,
    completedAt: createdAt,
    results,
  };
}
