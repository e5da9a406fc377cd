import { ProblemError, UnusableResponse } from '@vantage/client';

/** Limit of the time for which a connection is tried again: in effect none, because pages stay open during an outage. */
export const NEVER_MS = Number.MAX_SAFE_INTEGER;

/** Explains a failed request to the user. */
export function faultText(error: unknown): string {
  if (error instanceof UnusableResponse) return 'Something in front of the service answered in its place.';
  if (!(error instanceof ProblemError)) return 'The service did not answer. Is your connection up?';
  if (typeof error.problem?.detail === 'string') return error.message;
  return `Something in front of the service answered with status ${error.status}.`;
}

/** Longest delay before a retry: a proxy may ask for an hour although the service is back after a minute. */
const LONGEST_DELAY_MS = 60_000;

/**
 * Delay before a retry in milliseconds: that of `Retry-After`, of which at most a minute counts.
 *
 * @param leastMs minimum, also used without the header
 */
export function retryAfterMs(error: unknown, leastMs: number): number {
  const asked = error instanceof ProblemError ? (error.retryAfterSeconds ?? 0) : 0;
  return Math.max(leastMs, Math.min(asked * 1000, LONGEST_DELAY_MS));
}
