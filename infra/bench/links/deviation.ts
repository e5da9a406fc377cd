import { median, type Figure } from '../goals.ts';

/** Allowed difference from the median of the other tool, as a share of that median. */
const ALLOWED_SHARE = 0.05;
/** Allowed excess of small medians, milliseconds: the scheduling noise of a process. */
const ABOVE_MS = 1.5;
/**
 * Allowed shortfall of small medians, milliseconds: the other tool is a new process each time, and a phase includes
 * reading its files.
 */
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
