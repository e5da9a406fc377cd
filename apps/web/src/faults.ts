import { ProblemError } from '@vantage/client';

/** Why a request came to nothing, in a sentence for whoever looks at the page. */
export function faultText(error: unknown): string {
  if (!(error instanceof ProblemError)) return 'The service did not answer. Is your connection up?';
  if (typeof error.problem?.detail === 'string') return error.message;
  return `Something in front of the service answered with status ${error.status}.`;
}

/** True where asking the same again would be answered the same. */
export function isFinalRefusal(error: unknown): boolean {
  return error instanceof ProblemError && error.status < 500 && ![408, 425, 429].includes(error.status);
}

/**
 * When to ask again, in milliseconds: as the service said.
 *
 * @param leastMs where it said nothing, or less than this
 */
export function retryAfterMs(error: unknown, leastMs: number): number {
  const asked = error instanceof ProblemError ? (error.retryAfterSeconds ?? 0) : 0;
  return Math.max(leastMs, asked * 1000);
}
