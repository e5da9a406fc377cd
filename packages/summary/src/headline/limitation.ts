import type { Check } from '@vantage/contract';

import type { FindingDraft } from '../finding.ts';
import { findingRules } from '../rules.ts';

/**
 * Of the findings above `info` that have a clause: the clause of the most severe one that makes a target degraded, else
 * of the most severe one.
 */
export function limitationOf({ type }: Check, findings: readonly FindingDraft[], up: number): string {
  const why = findings.filter(({ severity, brief }) => severity !== 'info' && brief !== undefined);
  const finding = why.find(({ code }) => findingRules[code].degrades) ?? why[0];
  if (finding?.brief === undefined) return 'not as it should';
  return `${finding.brief}${OF_ALL.has(type) ? forSome(finding, up) : ''}`;
}

/** Types whose clauses do not say for which probes they hold. */
const OF_ALL: ReadonlySet<string> = new Set(['http', 'ping', 'tcp']);

/** The probes for which the clause holds, if these are not all and it does not name them. */
function forSome({ code, brief = '', probes }: FindingDraft, up: number): string {
  const isNamed =
    code.startsWith('family_') || probes.some((probe) => brief.includes(probe)) || / probes?\b/.test(brief);
  if (isNamed || probes.length >= up) return '';
  return ` for ${probes.length === 1 ? probes[0] : `${probes.length} of ${up} probes`}`;
}
