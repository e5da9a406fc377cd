import type { Result } from '../check/use-check.ts';
import { measurementsOf, type Measurement } from '../check/measurements.ts';
import type { Compared } from './use-comparison.ts';

/**
 * Pairs of measurements of both checks. If only one check has measurements over both families of a probe, that probe
 * has one pair, over the family of the other check if it is known.
 */
export function measurementPairs(
  probes: readonly string[],
  a: Pick<Compared['a'], 'results'>,
  b: Pick<Compared['b'], 'results'>,
): readonly (readonly [id: string, a: Result, b: Result])[] {
  return probes.flatMap((probe) => {
    const [mainOfA, mainOfB] = [a.results[probe]!, b.results[probe]!];
    const [ofA, ofB] = [measurementsOf([[probe, mainOfA]]), measurementsOf([[probe, mainOfB]])];
    if (ofA.length === ofB.length) return ofA.map(([id, result], index) => [id, result, ofB[index]![1]] as const);
    return [[probe, overFamilyOf(mainOfB, ofA) ?? mainOfA, overFamilyOf(mainOfA, ofB) ?? mainOfB] as const];
  });
}

/** The measurement over the family of this result; undefined if it is not known, or if there is only one. */
function overFamilyOf(result: Result, measurements: readonly Measurement[]): Result | undefined {
  const { resolvedIp, family } = result as { readonly resolvedIp?: string | null; readonly family?: 4 | 6 };
  if (measurements.length < 2 || (family === undefined && typeof resolvedIp !== 'string')) return undefined;
  const known = family ?? (resolvedIp!.includes(':') ? 6 : 4);
  return measurements.find(([id]) => id.endsWith(` IPv${known}`))?.[1];
}
