import type { Comparison } from '@vantage/contract';

/**
 * The probes of both checks: those with certain differences first, then those with other differences or changed paths,
 * then the rest.
 */
export function probesByDifference({ probes }: Comparison): readonly string[] {
  const rankOf = (probe: string): number => {
    const { differences, path, otherPath } = probes[probe]!;
    if (differences.some(({ certain }) => certain)) return 0;
    const isChanged = [path, otherPath].some((one) => (one?.changes.length ?? 0) > 0);
    return differences.length > 0 || isChanged ? 1 : 2;
  };
  return Object.keys(probes).toSorted((a, b) => rankOf(a) - rankOf(b));
}
