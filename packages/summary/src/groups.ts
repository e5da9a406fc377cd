import type { SummaryGroup } from '@vantage/contract';

import { groupBy, probesOf, type ProbeResult } from './probe-result.ts';
import { safeText } from './words.ts';

const MAX_VALUES = 50;
const MAX_LENGTH = 256;

/**
 * Groups probes by equal observations.
 *
 * @param valuesOf observations of a probe, sorted and complete: compared verbatim, shown escaped and bounded; undefined
 *   if the probe has none
 */
export function groupsOf<R extends ProbeResult>(
  subject: SummaryGroup['subject'],
  probeResults: readonly R[],
  valuesOf: (probeResult: R) => readonly string[] | undefined,
): readonly SummaryGroup[] {
  const keyOf = (probeResult: R): string | undefined => {
    const values = valuesOf(probeResult);
    return values === undefined ? undefined : JSON.stringify(values);
  };
  return groupBy(probeResults, keyOf).map(([key, own]) => ({
    subject,
    values: (JSON.parse(key) as string[]).slice(0, MAX_VALUES).map((value) => safeText(value, MAX_LENGTH)),
    probes: [...probesOf(own)],
  }));
}
