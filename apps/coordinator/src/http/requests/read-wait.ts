import type { Request } from 'express';

import { invalid } from './validate-request.ts';

/** Longest `?wait=` in seconds. */
export const MAX_WAIT_SECONDS = 25;

/**
 * Reads `?wait` as milliseconds; 0 without it.
 *
 * @throws HttpProblem 400 if it is invalid
 */
export function readWait(request: Request): number {
  const wait: unknown = request.query['wait'];
  if (wait === undefined) return 0;
  const seconds = typeof wait === 'string' && /^\d{1,2}(\.\d{1,3})?$/.test(wait) ? Number(wait) : Number.NaN;
  if (seconds <= MAX_WAIT_SECONDS) return Math.round(seconds * 1000);
  throw invalid([{ path: '?wait', message: `must be a number of seconds from 0 to ${MAX_WAIT_SECONDS}, given once` }]);
}
