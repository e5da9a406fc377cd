import {
  escapeText,
  findingCodes,
  findingSeverities,
  type Check,
  type Finding,
  type LookUpPlace,
} from '@vantage/contract';
import type { Screenshot, Summary, SummaryGroup, Verdict } from '@vantage/contract';

import { findAddresses, groupAddresses } from './addresses.ts';
import { findDirections } from './between/find-directions.ts';
import { markDisputed } from './disputed.ts';
import type { FindingDraft } from './finding.ts';
import { headlineOf } from './headline/headline.ts';
import { findFamilies } from './families.ts';
import { findLatencies } from './latency.ts';
import { findNames } from './names.ts';
import { otherTraces } from './measurements.ts';
import { findOverOther, isImpairedOverOther } from './other-family.ts';
import { byText, ofType, probeResultsOf, type ProbeFacts, type ProbeResult } from './probe-result.ts';
import { findingRules } from './rules.ts';
import { findScopes } from './scopes.ts';
import { isTooLarge, partitionByOutcome, type Partition } from './partition.ts';
import { findEnds } from './traceroute/ends.ts';
import { mergePaths } from './traceroute/graph.ts';
import { findLosses } from './traceroute/loss/losses.ts';
import { findOlder } from './traceroute/older.ts';
import { tracesOf, type Trace } from './traceroute/trace.ts';
import { findCertificates, groupCertificates } from './types/tls/certificates.ts';
import { findTls } from './types/tls/tls.ts';
import { findDns, groupAnswers } from './types/dns/dns.ts';
import { findHttp, groupHttp } from './types/http.ts';
import { findInfo } from './types/info.ts';
import { findPing } from './types/ping.ts';
import { findTcp, findUdp, groupStates } from './types/ports.ts';
import { findStalled } from './stalled.ts';
import { findScreenshot } from './screenshot.ts';
import { findUnmeasured } from './unmeasured.ts';

/** Input in addition to the results. */
export interface SummaryFacts {
  /** State of the check's screenshot. */
  readonly screenshot?: Screenshot | undefined;
  /** Geo data of the measured addresses. */
  readonly placeOf?: LookUpPlace | undefined;
}

/**
 * Summarises the results of a check. Deterministic: independent of the order of results and of the current time. Does
 * not throw for results that are valid by their schemas.
 *
 * @param check completed or not
 * @param probes by id; removed probes may be missing
 */
export function summarize(check: Check, probes: ReadonlyMap<string, ProbeFacts>, facts: SummaryFacts = {}): Summary {
  const { testId, type, host, status } = check;
  const probeResults = markDisputed(type, probeResultsOf(check, probes));
  const partition = partitionByOutcome(type, probeResults);
  const traces = type === 'traceroute' ? tracesOf(ofType<'traceroute'>(probeResults)) : [];
  const isPair = check.between !== undefined;
  const findings = [
    // The probes of a pair have different targets, so their locations do not explain which of them fails.
    ...(isPair && partition.up.length > 0 ? [] : findScopes(partition, probeResults)),
    ...(isPair ? findDirections(check, traces, partition) : findTargets(type, probeResults, partition)),
    ...findFamilies(type, probeResults),
    ...findOverOther(type, probeResults, facts.placeOf),
    ...findingsOfType(type, probeResults, partition),
    ...findPaths(isPair ? traces.map((trace) => [trace]) : [traces], partition, facts.placeOf),
    ...findOlder(traces),
    ...findLatencies(type, partition.up, facts.placeOf),
    ...findScreenshot(check, facts.screenshot, partition.up),
    ...findStalled(type, probeResults),
    ...findUnmeasured(
      partition.notMeasured.filter((one) => one !== partition.lone),
      partition.counted.length,
    ),
  ].toSorted(byGravity);
  const verdict = verdictOf(partition, findings, isImpairedOverOther(type, probeResults));
  const { up, down, counted } = partition;
  return {
    checkId: testId,
    type,
    host,
    status,
    verdict,
    agree: { n: Math.max(up.length, down.length), of: counted.length },
    counts: partition.counts,
    headline: escapeText(headlineOf({ check, probeResults, partition, verdict, findings }), 1_024),
    findings: findings.map(publicFinding),
    groups: [...groupsOfType(type, probeResults)],
    ...(type === 'traceroute' ? { paths: mergePaths(traces, tracesOf(otherTraces(probeResults))) } : {}),
  };
}

/** Findings about the name and the addresses of the target; none for dns. */
function findTargets(
  type: string,
  probeResults: readonly ProbeResult[],
  partition: Partition,
): readonly FindingDraft[] {
  return type === 'dns' ? [] : [...findNames(partition), ...findAddresses(probeResults)];
}

/** @param groups traces by target */
function findPaths(
  groups: readonly (readonly Trace[])[],
  { notMeasured, silent }: Partition,
  placeOf: LookUpPlace | undefined,
): readonly FindingDraft[] {
  return groups.flatMap((traces) => [
    ...findLosses(traces),
    ...findEnds(
      // Traces whose requested size did not pass a link are kept: they measured the path, but not the target.
      traces.filter(
        ({ probeResult }) => !notMeasured.includes(probeResult as ProbeResult) || isTooLarge(probeResult.result),
      ),
      silent,
      placeOf,
    ),
  ]);
}

function findingsOfType(
  type: string,
  probeResults: readonly ProbeResult[],
  partition: Partition,
): readonly FindingDraft[] {
  const { counted, notMeasured } = partition;
  // Partial measurements of an unfinished probe remain valid.
  const measured = probeResults.filter((probeResult) => !notMeasured.includes(probeResult));
  switch (type) {
    case 'ping':
      return findPing(ofType<'ping'>(measured));
    case 'http':
      return [
        ...findHttp(ofType<'http'>(measured)),
        ...findCertificates(ofType<'http'>(measured), ofType<'http'>(probeResults)),
        ...findTls(ofType<'http'>(measured)),
      ];
    case 'tcp':
      return findTcp(ofType<'tcp'>(counted));
    case 'udp':
      return findUdp(ofType<'udp'>(measured));
    case 'dns':
      return findDns(ofType<'dns'>(measured), partition);
    case 'info':
      return findInfo(ofType<'info'>(measured));
    default:
      return [];
  }
}

function groupsOfType(type: string, probeResults: readonly ProbeResult[]): readonly SummaryGroup[] {
  switch (type) {
    case 'http': {
      const own = ofType<'http'>(probeResults);
      return [...groupAddresses(probeResults), ...groupHttp(own), ...groupCertificates(own)];
    }
    case 'tcp':
    case 'udp':
      return [...groupAddresses(probeResults), ...groupStates(ofType<'tcp'>(probeResults))];
    case 'dns':
      return groupAnswers(ofType<'dns'>(probeResults));
    default:
      return groupAddresses(probeResults);
  }
}

function verdictOf(
  { up, down, counted, of }: Partition,
  findings: readonly FindingDraft[],
  isImpairedElsewhere: boolean,
): Verdict {
  if (counted.length === 0) return 'unknown';
  if (up.length === 0) return 'down';
  if (down.length > 0) return 'partial';
  const isImpaired = [...of.values()].includes('impaired');
  return isImpaired || isImpairedElsewhere || findings.some(isDegrading) ? 'degraded' : 'up';
}

function isDegrading({ code, severity }: FindingDraft): boolean {
  return severity !== 'info' && findingRules[code].degrades;
}

const order = Object.keys(findingCodes);

function byGravity(a: FindingDraft, b: FindingDraft): number {
  return (
    findingSeverities.indexOf(a.severity) - findingSeverities.indexOf(b.severity) ||
    order.indexOf(a.code) - order.indexOf(b.code) ||
    b.probes.length - a.probes.length ||
    byText(a.text, b.text)
  );
}

/** The public form of a finding, with each probe once, sorted by id. */
function publicFinding({ code, severity, text, probes }: FindingDraft): Finding {
  return { code, severity, text: escapeText(text, 1_024), probes: [...new Set(probes)].toSorted(byText) };
}
