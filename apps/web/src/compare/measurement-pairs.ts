import type { Result } from '../check/use-check.ts';
import { measurementsOf } from '../check/measurements.ts';
import type { Compared } from './use-comparison.ts';

/**
 * Pairs of measurements of both checks. If only one check has measurements over both families of a probe, that probe
 * has one pair, of the main results.
 */
export function measurementPairs(
  probes: readonly string[],
  a: Compared['a'],
  b: Compared['b'],
): readonly (readonly [id: string, a: Result, b: Result])[] {
  return probes.flatMap((probe) => {
    const [ofA, ofB] = [a, b].map(({ results }) => measurementsOf([[probe, results[probe]!]]));
    if (ofA!.length !== ofB!.length) return [[probe, a.results[probe]!, b.results[probe]!] as const];
    return ofA!.map(([id, result], index) => [id, result, ofB![index]![1]] as const);
  });
}
