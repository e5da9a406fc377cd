import type { Check, Comparison } from '@vantage/contract';
import type { CheckTypeName } from '@vantage/diagnostics/contract';

import { compareChecks, type ComparedCheck } from '../src/compare/compare-checks.ts';
import { summarize } from '../src/summarize.ts';
import { CHECK_ID, factsOf, type Result } from './cases.ts';

/** Compares two checks with the given results by probe id. */
export function compared<T extends CheckTypeName>(
  type: T,
  a: Readonly<Record<string, Result<T>>>,
  b: Readonly<Record<string, Result<T>>>,
  hosts: readonly [string, string] = ['example.com', 'example.com'],
): Comparison {
  return compareChecks(checkOf(type, a, hosts[0]), checkOf(type, b, hosts[1]));
}

function checkOf<T extends CheckTypeName>(
  type: T,
  results: Readonly<Record<string, Result<T>>>,
  host: string,
): ComparedCheck {
  const createdAt = '2026-01-01T00:00:00.000Z';
  const check: Check = {
    testId: CHECK_ID,
    type,
    host,
    status: 'completed',
    createdAt,
    completedAt: createdAt,
    results,
  };
  return { check, summary: summarize(check, factsOf(Object.keys(results))) };
}
