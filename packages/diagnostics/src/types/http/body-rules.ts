import type { Failure } from '@vantage/contract';
import { RE2JS } from 're2js';

import { decodeBody } from './decode-body.ts';
import type { Step } from './hop/hop-timings.ts';
import type { RequestRules } from './request-rules.ts';
import type { HttpFields } from './types.ts';

/** Decodes the body of the last response as a module specifies, and compares it with the module's expressions. */
export interface BodyRules {
  /**
   * Starts a step, and forgets the body of the step before.
   *
   * @returns the receiver of the body; undefined if none is needed
   */
  readonly start: () => ((bytes: Uint8Array) => void) | undefined;
  /** Result fields; none without a response. */
  readonly fields: (step: Step) => Promise<Pick<HttpFields, 'bodyMatches' | 'decoded'>>;
}

/**
 * Creates the comparison of a check. Its cost is bounded: expressions of RE2 take linear time, and the size of a body
 * has a limit.
 */
export function createBodyRules(
  expressions: readonly string[] | undefined,
  compression?: RequestRules['compression'],
): BodyRules | { readonly failure: Failure } {
  if (expressions === undefined && compression === undefined) {
    return { start: () => undefined, fields: async () => ({}) };
  }
  let compiled: readonly RE2JS[];
  try {
    compiled = (expressions ?? []).map((expression) => RE2JS.compile(expression));
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
    fields: async ({ head, fields: { truncated = false } }) => {
      if (head === null) return {};
      const body = Buffer.concat(chunks);
      const decoded = compression === undefined ? undefined : await decodeBody(body, compression);
      const content = decoded?.content ?? body;
      return {
        ...(expressions === undefined ? {} : { bodyMatches: compiled.map((expression) => expression.test(content)) }),
        ...(decoded === undefined ? {} : { decoded: { bytes: decoded.bytes, whole: decoded.whole && !truncated } }),
      };
    },
  };
}
