import type { Family } from '@vantage/contract';

import { measurementsOf } from '../measurements.ts';
import { partitionByOutcome, type Evidence } from '../partition.ts';
import type { ProbeResult } from '../probe-result.ts';

/** Evidence of a probe’s result, or of its measurement over one family. */
export type EvidenceOf = (result: ProbeResult, family?: Family) => Evidence;

/**
 * Evidence in one check, considered together with the other probes: with a family, that of the measurement over it if
 * the probe has both; else that of its whole result.
 */
export function evidenceIn(type: string, probeResults: readonly ProbeResult[]): EvidenceOf {
  const ofProbes = partitionByOutcome(type, probeResults).of;
  const both = probeResults.flatMap((one) => measurementsOf(one) ?? []);
  const over = (family: Family) =>
    partitionByOutcome(
      type,
      both.map((measurements) => measurements[family]),
    ).of;
  const ofFamilies = { 4: over(4), 6: over(6) };
  return ({ probe }, family) => (family && ofFamilies[family].get(probe)) ?? ofProbes.get(probe) ?? 'notMeasured';
}

export function isMeasured(evidence: Evidence): boolean {
  return evidence !== 'notMeasured' && evidence !== 'pending';
}
