import type { Check } from '@vantage/contract';

import type { FindingDraft } from '../finding.ts';
import type { ProbeResult } from '../probe-result.ts';
import { reasonsOf } from '../reasons.ts';
import { findingRules } from '../rules.ts';

/**
 * Of the findings above `info` that have a clause: the clause of the most severe one that makes a target degraded, else
 * of the most severe one. Without such a finding, why the target is impaired.
 */
export function limitationOf({ type }: Check, findings: readonly FindingDraft[], up: readonly ProbeResult[]): string {
  const why = findings.filter(({ severity, brief }) => severity !== 'info' && brief !== undefined);
  const finding = why.find(({ code }) => findingRules[code].degrades) ?? why[0];
  if (finding?.brief !== undefined) return `${finding.brief}${OF_ALL.has(type) ? forSome(finding, up.length) : ''}`;
  const impaired = up.filter(({ outcome }) => outcome !== 'success');
  if (impaired.length === 0) return 'not as it should';
  const probes = impaired.map(({ probe }) => probe);
  return `${reasonsOf(impaired)}${forSome({ brief: '', probes }, up.length)}`;
}

/** Types whose clauses do not say for which probes they hold. */
const OF_ALL: ReadonlySet<string> = new Set(['http', 'ping', 'tcp', 'traceroute']);

type Named = Pick<FindingDraft, 'brief' | 'probes'> & { readonly code?: string };

/** The probes for which the clause holds, if these are not all and it does not name them. */
function forSome({ code = '', brief = '', probes }: Named, up: number): string {
  const isNamed =
    code.startsWith('family_') || probes.some((probe) => brief.includes(probe)) || / probes?\b/.test(brief);
  if (isNamed || probes.length >= up) return '';
  return ` for ${probes.length === 1 ? probes[0] : `${probes.length} of ${up} probes`}`;
}
