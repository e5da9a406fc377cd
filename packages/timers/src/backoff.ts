export interface Backoff {
  /** Milliseconds before the second attempt. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** The share of each pause that is random, 0 to 1, so that many clients do not return at the same time. */
  readonly jitter?: number;
}

/** Doublings after which every pause is the longest: no exponent grows without bound. */
const MOST_DOUBLINGS = 30;

/** @returns the pause in milliseconds after a number of failures in a row, from 1: doubled with each, up to the longest */
export function createBackoff(
  { firstMs, longestMs, jitter = 0 }: Backoff,
  random: () => number = Math.random,
): (failures: number) => number {
  return (failures) => {
    const doublings = Math.min(Math.max(failures - 1, 0), MOST_DOUBLINGS);
    return Math.min(firstMs * 2 ** doublings, longestMs) * (1 - jitter * random());
  };
}
