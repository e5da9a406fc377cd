import { measurementsOf } from '../measurements.ts';
import { partitionByOutcome, type Evidence } from '../partition.ts';
import type { ProbeResult } from '../probe-result.ts';

/**
 * Evidence of each result of a check, considered together with the other probes; over both families, of each family.
 */
export function evidenceIn(type: string, probeResults: readonly ProbeResult[]): (result: ProbeResult) => Evidence {
  const ofProbes = partitionByOutcome(type, probeResults).of;
  const both = probeResults.flatMap((one) => measurementsOf(one) ?? []);
  const ofFamilies = ([4, 6] as const).map((family) => {
    const ofFamily = both.map((measurements) => measurements[family]);
    const { of } = partitionByOutcome(type, ofFamily);
    return new Map(ofFamily.map(({ probe, result }) => [result, of.get(probe)!]));
  });
  return ({ probe, result }) =>
    ofFamilies.find((evidence) => evidence.has(result))?.get(result) ?? ofProbes.get(probe) ?? 'notMeasured';
}

export function isMeasured(evidence: Evidence): boolean {
  return evidence !== 'notMeasured' && evidence !== 'pending';
}
