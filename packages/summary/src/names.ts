import { buildFinding, type FindingDraft } from './finding.ts';
import type { Partition } from './partition.ts';
import { reasonsOf } from './reasons.ts';
import { ofType, type ProbeResult } from './probe-result.ts';
import { familyOfRedirect, redirectedTo } from './redirected.ts';
import { isUnresolved, isWithoutFamily } from './resolution.ts';
import { naming } from './words.ts';

/** Findings about a host that was not resolved: the target, or one to which it redirects. DNS checks have others. */
export function findNames({ down, notMeasured, counted, lone }: Partition): readonly FindingDraft[] {
  const unresolved = down.filter(({ result }) => result.error?.phase === 'resolve');
  return [
    ...found(unresolved, unresolved.length === counted.length ? 'critical' : 'warning', ''),
    ...found(
      notMeasured.filter((one) => one === lone || isUnresolved(one)),
      counted.length === 0 ? 'warning' : 'info',
      counted.length === 0 ? '' : ' That does not count in the verdict.',
    ),
  ];
}

function found(
  unresolved: readonly ProbeResult[],
  severity: FindingDraft['severity'],
  count: string,
): readonly FindingDraft[] {
  if (unresolved.length === 0) return [];
  const isBehindRedirect = ofType<'http'>(unresolved).some(({ result }) => redirectedTo(result) !== undefined);
  const subject = unresolved.length === 1 ? 'It' : 'They';
  const nothing = isBehindRedirect ? '' : ` ${subject} measured nothing of the host itself.`;
  const isOfFamily = (probeResult: ProbeResult): boolean =>
    isWithoutFamily(probeResult) || familyOfRedirect(probeResult.result) !== undefined;
  const did = unresolved.every(isOfFamily) ? 'found no address to measure' : 'could not resolve the name';
  const text = `${naming(unresolved)} ${did}: ${reasonsOf(unresolved)}.${nothing}${count}`;
  return [buildFinding('name_not_resolved', severity, unresolved, text)];
}
