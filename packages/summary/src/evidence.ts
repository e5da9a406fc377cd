import type { Check } from '@vantage/contract';

import { partitionByOutcome, type Evidence } from './partition.ts';
import { probeResultsOf } from './probe-result.ts';

/** Each probe's evidence about the target, as the verdict of a summary counts it. */
export function evidenceByProbe(check: Check): ReadonlyMap<string, Evidence> {
  return partitionByOutcome(check.type, probeResultsOf(check, new Map())).of;
}
