import { isUnmeasured } from './compare/fields/common.ts';
import type { ProbeResult } from './probe-result.ts';

/** Codes of a failure because the name has no address of the family, or the probe no connectivity in it. */
export const ABSENT_FAMILY: ReadonlySet<string | undefined> = new Set(['dns_no_address', 'family_unavailable']);

/** True if the measurement over one family is evidence about the target. */
export function isTold(probeResult: ProbeResult): boolean {
  return !isUnmeasured(probeResult) && !isAbsent(probeResult);
}

export function isAbsent({ result }: ProbeResult): boolean {
  return ABSENT_FAMILY.has(result.error?.code);
}
