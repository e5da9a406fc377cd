import type { SummaryGroup } from '@vantage/contract';

import { groupBy, probesOf, type Report } from './report.ts';
import { shown } from './words.ts';

const MAX_VALUES = 50;
const MAX_LENGTH = 256;

/**
 * Who saw the same.
 *
 * @param valuesOf what a probe saw, sorted and whole: it is compared as it is, and shown escaped and bounded; undefined
 *   where it did not come so far
 */
export function groupsOf<R extends Report>(
  subject: SummaryGroup['subject'],
  reports: readonly R[],
  valuesOf: (report: R) => readonly string[] | undefined,
): readonly SummaryGroup[] {
  const keyOf = (report: R): string | undefined => {
    const values = valuesOf(report);
    return values === undefined ? undefined : JSON.stringify(values);
  };
  return groupBy(reports, keyOf).map(([key, own]) => ({
    subject,
    values: (JSON.parse(key) as string[]).slice(0, MAX_VALUES).map((value) => shown(value, MAX_LENGTH)),
    probes: [...probesOf(own)],
  }));
}
