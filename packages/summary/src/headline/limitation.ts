import type { Check } from '@vantage/contract';

import type { FindingDraft } from '../finding.ts';
import type { ProbeResult } from '../probe-result.ts';
import { reasonsOf } from '../reasons.ts';
import { findingRules } from '../rules.ts';
import { countOf, unique } from '../words.ts';

/**
 * Why the target is degraded, as a clause: that of the most severe finding whose rule degrades the verdict, else of the
 * most severe one; findings of severity `info` and those without a clause do not count. Without any, the reasons of the
 * impaired probes.
 */
export function limitationOf({ type }: Check, findings: readonly FindingDraft[], up: readonly ProbeResult[]): string {
  const why = findings.filter(({ severity, brief }) => severity !== 'info' && brief !== undefined);
  const finding = why.find(({ code }) => findingRules[code].degrades) ?? why[0];
  if (finding?.brief !== undefined) {
    const probes = OF_ALL.has(type) ? forSome(finding, up.length) : '';
    return `${finding.brief}${probes}${probes === '' ? '' : similarTo(finding, why)}`;
  }
  const impaired = up.filter(({ outcome }) => outcome !== 'success');
  if (impaired.length === 0) return 'not as it should';
  const probes = impaired.map(({ probe }) => probe);
  return `${reasonsOf(impaired)}${forSome({ brief: '', probes }, up.length)}`;
}

/** `, similar for 2 more probes`, if others have findings of the same code. */
function similarTo({ code, probes }: FindingDraft, findings: readonly FindingDraft[]): string {
  const all = unique(findings.filter((one) => one.code === code).flatMap((one) => one.probes));
  const others = all.filter((probe) => !probes.includes(probe)).length;
  return others === 0 ? '' : `, similar for ${countOf(others, 'more probe')}`;
}

/** Types whose clauses do not say for which probes they hold. */
const OF_ALL: ReadonlySet<string> = new Set(['http', 'ping', 'tcp', 'traceroute']);

type Named = Pick<FindingDraft, 'brief' | 'probes'> & { readonly code?: string };

/** The probes for which the clause of a finding holds; empty if these are all probes, or if the clause names them. */
function forSome({ code = '', brief = '', probes }: Named, up: number): string {
  const isNamed =
    code.startsWith('family_') || probes.some((probe) => brief.includes(probe)) || / probes?\b/.test(brief);
  if (isNamed || probes.length >= up) return '';
  return ` for ${probes.length === 1 ? probes[0] : `${probes.length} of ${up} probes`}`;
}
