import type { Finding, FindingCode, FindingSeverity } from '@vantage/contract';

import { thresholds } from './thresholds.ts';
import type { ProbeResult } from './probe-result.ts';

/** A finding, and its clause for the headline, if it has one. */
export interface FindingDraft extends Finding {
  readonly brief?: string | undefined;
}

export function buildFinding(
  code: FindingCode,
  severity: FindingSeverity,
  probeResults: readonly Pick<ProbeResult, 'probe'>[],
  text: string,
  brief?: string,
): FindingDraft {
  return { code, severity, text, probes: probeResults.map(({ probe }) => probe), brief };
}

/** Severity by the share of affected probes: a single probe's observation may be local to it. */
export function severityByShare(seen: number, of: number): FindingSeverity {
  return seen >= 2 && seen >= of * thresholds.manyProbes ? 'warning' : 'info';
}
