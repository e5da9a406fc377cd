export interface Backoff {
  /** Milliseconds before the second attempt. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** Share of each pause that is random, 0 to 1, so that clients do not return simultaneously. */
  readonly jitter?: number;
}

/** Number of doublings after which the pause stays at its maximum, so that the exponent is bounded. */
const MOST_DOUBLINGS = 30;

/**
 * @returns the pause in milliseconds after a number of failures in a row, from 1: doubled with each, up to the longest,
 * then reduced at random by up to `jitter` of it
 */
export function createBackoff(
  { firstMs, longestMs, jitter = 0 }: Backoff,
  random: () => number = Math.random,
): (failures: number) => number {
  return (failures) => {
    const doublings = Math.min(Math.max(failures - 1, 0), MOST_DOUBLINGS);
    return Math.min(firstMs * 2 ** doublings, longestMs) * (1 - jitter * random());
  };
}
