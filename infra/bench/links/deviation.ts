import { median, type Figure } from '../goals.ts';

/**
 * Allowed excess of a median over that of the other tool: a twentieth, or for small values the scheduling noise of a
 * process.
 */
const ALLOWED_SHARE = 0.05;
const ABOVE_MS = 1.5;
/** Allowed difference of a lower median: the other tool is a new process each time, and a phase includes reading its files. */
const BELOW_MS = 5;

/**
 * Difference between the median of a phase and that of another tool, as a goal.
 *
 * @param direction in which the difference is bounded
 */
export function deviation(
  name: string,
  tool: string,
  ours: readonly number[],
  theirs: readonly number[],
  direction: 'both' | 'above' = 'both',
): Figure {
  const [own, other] = [median(ours), median(theirs)];
  const share = ALLOWED_SHARE * other;
  return {
    name: `${name}, more than ${tool}`,
    value: own - other,
    unit: 'ms',
    atMost: Math.max(ABOVE_MS, share),
    ...(direction === 'both' ? { atLeast: -Math.max(BELOW_MS, share) } : {}),
    comparison: `ours ${own.toFixed(1)} ms, ${tool} ${other.toFixed(1)} ms`,
  };
}
