import { literalProbeContext } from '@vantage/test-support';

import { createContext, type DiagnosticContext } from '../../../packages/diagnostics/src/diagnostic.ts';

const BUDGET_MS = 10_000;

/** A context with the least that a diagnostic needs, on loopback. */
export function onLoopback(resolvers: readonly string[]): DiagnosticContext {
  return createContext(literalProbeContext({ resolvers }), { budgetMs: BUDGET_MS });
}
