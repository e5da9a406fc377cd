const FACTOR = Number(process.env['CASES'] ?? 1);

/**
 * The number of cases of a randomized test. A run repeats the seeds of the one before, so more cases are of use only
 * after a change of what they test: `CASES=25` in the environment makes 25 times as many.
 */
export function cases(few: number): number {
  return few * FACTOR;
}
