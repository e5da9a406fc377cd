import type { Family, LookUpPlace } from '@vantage/contract';

import type { FindingDraft } from './finding.ts';
import { measurementsOf } from './measurements.ts';
import { ofType, type ProbeResult, type SparseResultOf } from './probe-result.ts';
import { findEnds } from './traceroute/ends.ts';
import { findLosses } from './traceroute/losses.ts';
import { tracesOf } from './traceroute/trace.ts';
import { findPing } from './types/ping.ts';

/**
 * Loss, jitter and faults of the path in the second measurements of a check over both families, as in the first ones.
 */
export function findOverOther(
  type: string,
  probeResults: readonly ProbeResult[],
  placeOf: LookUpPlace | undefined,
): readonly FindingDraft[] {
  return ([4, 6] as const).flatMap((family) => {
    const own = probeResults.flatMap((probeResult) => secondOver(family, probeResult));
    return findingsOf(type, own, placeOf)
      .filter(({ code }) => code !== 'probes_older')
      .map((finding) => ({
        ...finding,
        text: `Over IPv${family}: ${finding.text}`,
        brief: finding.brief === undefined ? undefined : `over IPv${family} ${finding.brief}`,
      }));
  });
}

/** The second measurement, if it is over this family and works; `family_broken` explains one that fails. */
function secondOver(family: Family, probeResult: ProbeResult): readonly ProbeResult[] {
  const second = measurementsOf(probeResult)?.[family];
  const isSecond = (probeResult.result as SparseResultOf<'ping'>).otherFamily?.family === family;
  return second !== undefined && isSecond && second.outcome === 'success' ? [second] : [];
}

function findingsOf(
  type: string,
  own: readonly ProbeResult[],
  placeOf: LookUpPlace | undefined,
): readonly FindingDraft[] {
  if (type === 'ping') return findPing(ofType<'ping'>(own));
  if (type !== 'traceroute') return [];
  const traces = tracesOf(ofType<'traceroute'>(own));
  return [...findLosses(traces), ...findEnds(traces, [], placeOf)];
}
