import type { Check } from '@vantage/contract';

import { ABSENT_FAMILY } from './told.ts';
import { partitionByOutcome, type Evidence } from './partition.ts';
import { probeResultsOf, type SparseResultOf } from './probe-result.ts';

/** Each probe's evidence about the target, as the verdict of a summary counts it. */
export function evidenceByProbe(check: Check): ReadonlyMap<string, Evidence> {
  return partitionByOutcome(check.type, probeResultsOf(check, new Map())).of;
}

/**
 * The second measurements of a check over both families, in the form of a check over one. Leaves out unfinished ones,
 * and those that failed because the family is absent (`ABSENT_FAMILY`).
 */
export function otherFamilyOf(check: Check): Check {
  const results = Object.entries(check.results).flatMap(([probe, whole]) => {
    const { otherFamily } = whole as SparseResultOf<'ping'>;
    if (otherFamily?.result === undefined || ABSENT_FAMILY.has(otherFamily.error?.code)) return [];
    return [[probe, { ...otherFamily, finishedAt: whole['finishedAt'] }] as const];
  });
  return { ...check, results: Object.fromEntries(results) as Check['results'] };
}
