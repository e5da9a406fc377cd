import type { Family } from '@vantage/contract';

import { measurementsOf } from '../measurements.ts';
import { partitionByOutcome, type Evidence } from '../partition.ts';
import type { ProbeResult } from '../probe-result.ts';

/** Evidence of a probe’s result, or of its measurement over one family. */
export type EvidenceOf = (result: ProbeResult, family?: Family) => Evidence;

/**
 * Returns the evidence of a probe in one check, which depends on the other probes: of its measurement over the given
 * family if it measured over both; else of its whole result.
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
