import { literalProbeContext } from '@vantage/test-support';

import { createContext, type DiagnosticContext } from '../../../packages/diagnostics/src/diagnostic.ts';

const BUDGET_MS = 10_000;

/** A minimal context of a diagnostic, on loopback. */
export function onLoopback(resolvers: readonly string[]): DiagnosticContext {
  return createContext(literalProbeContext({ resolvers }), { budgetMs: BUDGET_MS });
}
