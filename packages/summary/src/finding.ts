import type { Finding, FindingCode, FindingSeverity } from '@vantage/contract';

import { thresholds } from './thresholds.ts';
import type { Report } from './report.ts';

/** A finding, and how a headline puts it behind a “but”. */
export interface Found extends Finding {
  readonly brief?: string | undefined;
}

export function found(
  code: FindingCode,
  severity: FindingSeverity,
  reports: readonly Pick<Report, 'probe'>[],
  text: string,
  brief?: string,
): Found {
  return { code, severity, text, probes: reports.map(({ probe }) => probe), brief };
}

/** What one probe sees may be its own trouble; what many see is the target's. */
export function severityByShare(seen: number, of: number): FindingSeverity {
  return seen >= 2 && seen >= of * thresholds.manyProbes ? 'warning' : 'info';
}
