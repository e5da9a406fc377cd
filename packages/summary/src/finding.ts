import type { Finding, FindingCode, FindingSeverity } from '@vantage/contract';

import { thresholds } from './thresholds.ts';
import type { Report } from './report.ts';

/** A finding, and its clause for the headline after “but”. */
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

/** Severity by the share of affected probes: a single probe's observation may be local to it. */
export function severityByShare(seen: number, of: number): FindingSeverity {
  return seen >= 2 && seen >= of * thresholds.manyProbes ? 'warning' : 'info';
}
