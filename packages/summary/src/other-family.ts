import type { Family, LookUpPlace } from '@vantage/contract';

import { isUnmeasured } from './compare/fields/common.ts';
import type { FindingDraft } from './finding.ts';
import { measurementsOf } from './measurements.ts';
import { isTooLarge, partitionByOutcome } from './partition.ts';
import { ofType, type ProbeResult, type SparseResultOf } from './probe-result.ts';
import { findEnds } from './traceroute/ends.ts';
import { findLosses } from './traceroute/loss/losses.ts';
import { tracesOf } from './traceroute/trace.ts';
import { findCertificates } from './types/tls/certificates.ts';
import { findPing } from './types/ping.ts';
import { hasDoubtfulTimes } from './stalled.ts';
import { findSlowness } from './types/http-slow.ts';
import { findTls } from './types/tls/tls.ts';

/**
 * Findings of the second measurements of a check over both families: of pings, of paths and their loss, of certificates,
 * TLS and slow servers. For http, omits findings that the first measurements have with the same text.
 */
export function findOverOther(
  type: string,
  probeResults: readonly ProbeResult[],
  placeOf: LookUpPlace | undefined,
): readonly FindingDraft[] {
  return ([4, 6] as const).flatMap((family) => {
    const own = probeResults.flatMap((probeResult) => secondOver(family, probeResult));
    const firsts = probeResults.filter(({ probe }) => own.some((second) => second.probe === probe));
    const ofFirsts = type === 'http' ? findingsOf(type, firsts, placeOf) : [];
    const all = probeResults.flatMap((probeResult) => measurementsOf(probeResult)?.[family] ?? []);
    return findingsOf(type, own, placeOf, all)
      .filter(({ code, text }) => !ofFirsts.some((first) => first.code === code && first.text === text))
      .filter(({ code }) => code !== 'probes_older')
      .map((finding) => ({
        ...finding,
        text: `Over IPv${family}: ${finding.text}`,
        brief: finding.brief === undefined ? undefined : `over IPv${family} ${finding.brief}`,
      }));
  });
}

/** True if the target is impaired over the second family: it answers, with faults. */
export function isImpairedOverOther(type: string, probeResults: readonly ProbeResult[]): boolean {
  return ([4, 6] as const).some((family) => {
    const own = probeResults.flatMap((probeResult) => secondOver(family, probeResult));
    return [...partitionByOutcome(type, own).of.values()].includes('impaired');
  });
}

/** The second measurement, if it is over this family and says something about the target or the path. */
function secondOver(family: Family, probeResult: ProbeResult): readonly ProbeResult[] {
  const second = measurementsOf(probeResult)?.[family];
  const isSecond = (probeResult.result as SparseResultOf<'ping'>).otherFamily?.family === family;
  return second !== undefined && isSecond && !isUnmeasured(second) ? [second] : [];
}

/** @param all measurements of all probes over the family, by which silence towards one probe is judged */
function findingsOf(
  type: string,
  own: readonly ProbeResult[],
  placeOf: LookUpPlace | undefined,
  all: readonly ProbeResult[] = own,
): readonly FindingDraft[] {
  const { notMeasured } = partitionByOutcome(type, own);
  const isMeasured = (probeResult: ProbeResult): boolean => !notMeasured.includes(probeResult);
  if (type === 'ping') return findPing(ofType<'ping'>(own.filter(isMeasured)));
  if (type === 'http') {
    const measured = ofType<'http'>(own.filter(isMeasured));
    return [...findCertificates(measured, ofType<'http'>(own)), ...findTls(measured), ...slowness(measured)];
  }
  if (type !== 'traceroute') return [];
  const traces = tracesOf(ofType<'traceroute'>(own.filter((one) => isMeasured(one) || isTooLarge(one.result))));
  const silent = new Set(partitionByOutcome(type, all).silent.map(({ probe }) => probe));
  const unproved = own.filter(({ probe }) => silent.has(probe));
  return [...findLosses(traces), ...findEnds(traces, unproved, placeOf)];
}

/** Slow phases except the resolution, whose queries always use the family of the resolver. */
function slowness(measured: readonly ProbeResult<SparseResultOf<'http'>>[]): readonly FindingDraft[] {
  const timed = measured.filter((probeResult) => !hasDoubtfulTimes('http', probeResult));
  return findSlowness(timed).filter(({ code }) => code !== 'name_resolution_slow');
}
