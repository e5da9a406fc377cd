import type { Family } from '@vantage/contract';

import type { ProbeResult, SparseResultOf } from './probe-result.ts';

/** One probe’s measurements over both families. */
export type Measurements = Readonly<Record<Family, ProbeResult>>;

/**
 * The measurements of a check over both families, each as of a check over one; undefined unless there are two and both
 * are finished.
 */
export function measurementsOf(probeResult: ProbeResult): Measurements | undefined {
  const { otherFamily, ...firstResult } = probeResult.result as SparseResultOf<'ping'>;
  if (otherFamily?.result === undefined || probeResult.outcome === 'pending') return undefined;
  const { family, result: outcome, ...result } = otherFamily;
  // The time at which the probe finished both: a wrong clock is recognised by it.
  const { finishedAt } = firstResult;
  const dated = finishedAt === undefined ? result : { ...result, finishedAt };
  const other = { probe: probeResult.probe, facts: probeResult.facts, outcome, result: dated };
  const first = { ...probeResult, result: firstResult };
  return family === 6 ? { 4: first, 6: other } : { 4: other, 6: first };
}

/**
 * Results of two checks. If only one of them is over both families, its measurement over the family of the other result
 * takes its place, if that family is known.
 */
export function overOneFamily([a, b]: readonly [ProbeResult, ProbeResult]): readonly [ProbeResult, ProbeResult] {
  const [ofA, ofB] = [measurementsOf(a), measurementsOf(b)];
  if ((ofA === undefined) === (ofB === undefined)) return [a, b];
  const family = soleFamilyOf(ofA === undefined ? a : b);
  return family === undefined ? [a, b] : [ofA?.[family] ?? a, ofB?.[family] ?? b];
}

/**
 * The family of a measurement; undefined if it is not known. For dns it is the family of the resolver or, in a trace,
 * of the name servers.
 */
export function soleFamilyOf({ result }: ProbeResult): Family | undefined {
  const { resolvedIp, family } = result as SparseResultOf<'dns'>;
  if (family === 4 || family === 6) return family;
  return typeof resolvedIp === 'string' ? (resolvedIp.includes(':') ? 6 : 4) : undefined;
}

/** The traces over the other family, pending ones included. */
export function otherTraces(
  probeResults: readonly ProbeResult[],
): readonly ProbeResult<SparseResultOf<'traceroute'>>[] {
  return probeResults.flatMap(
    ({ probe, facts, result: { otherFamily } }: ProbeResult<SparseResultOf<'traceroute'>>) => {
      if (otherFamily === undefined) return [];
      const { family: _family, result: outcome = 'pending' as const, ...result } = otherFamily;
      return [{ probe, facts, outcome, result }];
    },
  );
}
