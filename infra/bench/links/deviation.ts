import { median, type Figure } from '../goals.ts';

/**
 * Allowed excess of a median over that of the other tool: a twentieth, or for small values the scheduling noise of a
 * process.
 */
const ALLOWED_SHARE = 0.05;
const ABOVE_MS = 1.5;
/** The same below it: the tool is a new process each time, and the files that it reads in a phase count into it. */
const BELOW_MS = 5;

/**
 * How far the median of a phase is from that of another tool, as a goal.
 *
 * @param direction in which it may not be far from it
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
