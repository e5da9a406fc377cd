import type { Result } from './use-check.ts';

/** Id of a probe, followed by the address family if the probe measured over both, and the measurement. */
export type Measurement = readonly [id: string, result: Result];

interface WithOtherFamily {
  readonly otherFamily?: Partial<Result> & { readonly family: 4 | 6 };
}

/** The measurement of a result over the other family; undefined if the probe measured over one family only. */
export function otherMeasurement(result: Result): { readonly family: 4 | 6; readonly result: Result } | undefined {
  const { otherFamily } = result as WithOtherFamily;
  if (otherFamily === undefined) return undefined;
  return { family: otherFamily.family, result: { ...otherFamily, result: otherFamily.result ?? 'pending' } };
}

/**
 * Splits each row with measurements over both families into a row for each family, IPv4 first; its ID names the family.
 */
export function measurementsOf(rows: readonly Measurement[]): readonly Measurement[] {
  return rows.flatMap(([id, result]): Measurement[] => {
    const other = otherMeasurement(result);
    if (other === undefined) return [[id, result]];
    const both: Measurement[] = [
      [`${id} IPv${other.family === 6 ? 4 : 6}`, result],
      [`${id} IPv${other.family}`, other.result],
    ];
    return other.family === 6 ? both : both.toReversed();
  });
}

/** The probe in the id of a measurement. */
export function probeIn(id: string): string {
  return id.split(' ', 1)[0]!;
}
