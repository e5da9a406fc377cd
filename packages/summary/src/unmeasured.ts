import { failureCodes, type FailureCode, type FindingCode } from '@vantage/contract';

import { refusedPart } from './dns-reason.ts';
import { buildFinding, type FindingDraft } from './finding.ts';
import { answersOrdinary } from './unanswered-pings.ts';
import { reasonOf } from './reasons.ts';
import { groupBy, type ProbeResult } from './probe-result.ts';
import { isUnresolved } from './resolution.ts';
import { safeText, listed, naming, tally, unique } from './words.ts';

const ofCode: Readonly<Partial<Record<FailureCode, FindingCode>>> = {
  target_refused_by_policy: 'target_refused',
  target_rate_limited: 'probes_unanswered',
  family_unavailable: 'probes_incapable',
  capability_missing: 'probes_incapable',
  time_exceeded: 'packets_unfit',
  packet_too_big: 'packets_unfit',
  probe_offline: 'probes_offline',
  probe_busy: 'probes_unanswered',
  probe_interrupted: 'probes_unanswered',
  probe_suspended: 'probes_unanswered',
  probe_removed: 'probes_unanswered',
  probe_timeout: 'probes_unanswered',
};

/**
 * Findings about probes excluded from the verdict, one for each code, except those whose resolver failed, which
 * `findNames` reports.
 */
export function findUnmeasured(all: readonly ProbeResult[], counted: number): readonly FindingDraft[] {
  const probeResults = all.filter((probeResult) => !isUnresolved(probeResult));
  return groupBy(probeResults, findingOf).map(([code, own]) => {
    const severity = counted === 0 ? 'warning' : 'info';
    const subject = own.length === 1 ? 'It does' : 'They do';
    const count = counted === 0 ? '' : ` ${subject} not count in the verdict.`;
    return buildFinding(code as FindingCode, severity, own, `${whyOf(code, own)}.${count}`);
  });
}

function findingOf(probeResult: ProbeResult): FindingCode {
  if (answersOrdinary(probeResult.result)) return 'packets_unfit';
  return ofCode[codeOf(probeResult)] ?? 'probes_faulty';
}

function whyOf(code: string, probeResults: readonly ProbeResult[]): string {
  if (code === 'probes_offline') return `Offline: ${naming(probeResults)}`;
  if (code !== 'target_refused') return `Not measured: ${tally(probeResults, reasonOf)}`;
  // Only the message names the policy rule.
  const messages = unique(probeResults.map(({ result }) => safeText(ruleOf(result), 160).replace(/\.$/, '')));
  const rules = listed(
    messages.filter((message) => message !== ''),
    2,
  );
  const refused = listed(unique(probeResults.map(({ result }) => refusedPart(result))));
  return `The policy of ${naming(probeResults)} refuses ${refused}${rules === '' ? '' : `: ${rules}`}`;
}

/** The message without the part that the text before it says. */
function ruleOf({ error }: ProbeResult['result']): string {
  return (error?.message ?? '').replace(/^The (?:resolver|name server) is refused: /, '');
}

function codeOf({ result }: ProbeResult): FailureCode {
  const code = result.error?.code;
  return code !== undefined && Object.hasOwn(failureCodes, code) ? code : 'internal_error';
}
