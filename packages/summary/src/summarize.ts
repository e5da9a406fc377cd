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
import type { Found } from './finding.ts';
import { headlineOf } from './headline.ts';
import { findLatencies } from './latency.ts';
import { findNames } from './names.ts';
import { byText, ofType, reportsOf, type ProbeFacts, type Report } from './report.ts';
import { findingRules } from './rules.ts';
import { findScopes } from './scopes.ts';
import { sidesOf, type Sides } from './sides.ts';
import { findEnds } from './traceroute/ends.ts';
import { mergePaths } from './traceroute/graph.ts';
import { findLosses } from './traceroute/losses.ts';
import { tracesOf } from './traceroute/trace.ts';
import { findCertificates, groupCertificates } from './types/certificates.ts';
import { findTls } from './types/tls.ts';
import { findDns, groupAnswers } from './types/dns.ts';
import { findHttp, groupHttp } from './types/http.ts';
import { findInfo } from './types/info.ts';
import { findPing } from './types/ping.ts';
import { findTcp, findUdp, groupStates } from './types/ports.ts';
import { findScreenshot, findUnmeasured } from './unmeasured.ts';

/** Input besides the results. */
export interface SummaryFacts {
  /** State of the check's screenshot. */
  readonly screenshot?: Screenshot | undefined;
  /** Geo data of the measured addresses. Without it latency is not compared with distance. */
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
  const reports = reportsOf(check, probes);
  const sides = sidesOf(type, reports);
  const traces = type === 'traceroute' ? tracesOf(ofType<'traceroute'>(reports)) : [];
  const found = [
    ...findScopes(sides),
    ...(type === 'dns' ? [] : [...findNames(sides.down, sides.counted.length), ...findAddresses(reports)]),
    ...findingsOfType(type, reports, sides),
    ...findLosses(traces),
    ...findEnds(
      traces.filter(({ report }) => !sides.notMeasured.includes(report as Report)),
      sides.silent,
      facts.placeOf,
    ),
    ...findLatencies(type, sides.up, facts.placeOf),
    ...findScreenshot(facts.screenshot),
    ...findUnmeasured(sides.notMeasured, sides.counted.length),
  ].toSorted(byGravity);
  const verdict = verdictOf(sides, found);
  const { up, down, counted } = sides;
  return {
    checkId: testId,
    type,
    host,
    status,
    verdict,
    agree: { n: Math.max(up.length, down.length), of: counted.length },
    counts: sides.counts,
    headline: escapeText(headlineOf({ check, reports, sides, verdict, found }), 1_024),
    findings: found.map(finished),
    groups: [...groupsOfType(type, reports)],
    ...(type === 'traceroute' ? { paths: mergePaths(traces) } : {}),
  };
}

function findingsOfType(type: string, reports: readonly Report[], { counted, notMeasured }: Sides): readonly Found[] {
  // Partial measurements of an unfinished probe remain valid.
  const told = reports.filter((report) => !notMeasured.includes(report));
  switch (type) {
    case 'ping':
      return findPing(ofType<'ping'>(told));
    case 'http':
      return [
        ...findHttp(ofType<'http'>(told)),
        ...findCertificates(ofType<'http'>(told)),
        ...findTls(ofType<'http'>(told)),
      ];
    case 'tcp':
      return findTcp(ofType<'tcp'>(counted));
    case 'udp':
      return findUdp(ofType<'udp'>(told));
    case 'dns':
      return findDns(ofType<'dns'>(told));
    case 'info':
      return findInfo(ofType<'info'>(told));
    default:
      return [];
  }
}

function groupsOfType(type: string, reports: readonly Report[]): readonly SummaryGroup[] {
  switch (type) {
    case 'http': {
      const own = ofType<'http'>(reports);
      return [...groupAddresses(reports), ...groupHttp(own), ...groupCertificates(own)];
    }
    case 'tcp':
    case 'udp':
      return [...groupAddresses(reports), ...groupStates(ofType<'tcp'>(reports))];
    case 'dns':
      return groupAnswers(ofType<'dns'>(reports));
    default:
      return groupAddresses(reports);
  }
}

function verdictOf({ up, down, counted, of }: Sides, found: readonly Found[]): Verdict {
  if (counted.length === 0) return 'unknown';
  if (up.length === 0) return 'down';
  if (down.length > 0) return 'partial';
  const isImpaired = [...of.values()].includes('impaired');
  return isImpaired || found.some(isDegrading) ? 'degraded' : 'up';
}

function isDegrading({ code, severity }: Found): boolean {
  return severity !== 'info' && findingRules[code].degrades;
}

const order = Object.keys(findingCodes);

function byGravity(a: Found, b: Found): number {
  return (
    findingSeverities.indexOf(a.severity) - findingSeverities.indexOf(b.severity) ||
    order.indexOf(a.code) - order.indexOf(b.code) ||
    b.probes.length - a.probes.length ||
    byText(a.text, b.text)
  );
}

/** Sorts the probes by id: a finding may have collected them in another order. */
function finished({ code, severity, text, probes }: Found): Finding {
  return { code, severity, text: escapeText(text, 1_024), probes: [...new Set(probes)].toSorted(byText) };
}
