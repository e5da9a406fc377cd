import type { FieldsOf } from './types.ts';

/** The probes whose search for all paths ended before it was complete, over one of the families at least. */
export function probesMissingPaths(
  results: readonly (readonly [probe: string, result: FieldsOf<'traceroute'>])[],
): readonly string[] {
  const isCut = ({ multipath }: Pick<FieldsOf<'traceroute'>, 'multipath'>): boolean => multipath?.complete === false;
  return results.flatMap(([probe, result]) => (isCut(result) || isCut(result.otherFamily ?? {}) ? [probe] : []));
}
