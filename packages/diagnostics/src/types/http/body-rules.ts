import type { Failure } from '@vantage/contract';
import { RE2JS } from 're2js';

import type { Step } from './hop-timings.ts';

/** Compares the body of the last response with the expressions of a module. */
export interface BodyRules {
  /** For the request of a step: forgets the body of the step before. */
  readonly start: () => ((bytes: Uint8Array) => void) | undefined;
  /** The field of the result; nothing without expressions, or without a response. */
  readonly fields: (step: Step) => { readonly bodyMatches?: boolean[] };
}

/** Expressions of RE2 take linear time; a body has 1 MiB at most. */
export function createBodyRules(expressions: readonly string[] | undefined): BodyRules | { readonly failure: Failure } {
  if (expressions === undefined) return { start: () => undefined, fields: () => ({}) };
  let compiled: readonly RE2JS[];
  try {
    compiled = expressions.map((expression) => RE2JS.compile(expression));
  } catch {
    const message =
      'An expression of the module cannot be read; the release of the probe may be older than the coordinator’s.';
    return { failure: { code: 'invalid_job', phase: 'dispatch', source: 'probe', message } };
  }
  let chunks: Uint8Array[] = [];
  return {
    start: () => {
      chunks = [];
      return (bytes) => void chunks.push(bytes);
    },
    fields: ({ head }) => {
      if (head === null) return {};
      const body = Buffer.concat(chunks);
      return { bodyMatches: compiled.map((expression) => expression.test(body)) };
    },
  };
}
