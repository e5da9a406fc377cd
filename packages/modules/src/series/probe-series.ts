import type { Probe } from '@vantage/contract';

import type { Module } from '../plan/module.ts';
import { dnsReading, dnsSeries } from './dns.ts';
import { gauge, type Sample } from './families.ts';
import { httpReading, httpSeries, lacksRules as lacksHttpRules } from './http.ts';
import { icmpReading, icmpSeries } from './icmp.ts';
import type { AnyResult, Reading } from './result.ts';
import { tracerouteReading, tracerouteSeries } from './traceroute.ts';
import { lacksDialogue, tcpReading, tcpSeries } from './tcp.ts';

export interface ProbeRun {
  readonly probe: string;
  readonly result: AnyResult;
  /** The probe as `GET /probes` lists it; undefined if it is not listed. */
  readonly place: Probe | undefined;
}

export interface ScrapedRun extends Reading {
  readonly probe: string;
  /** Samples, all with the label `probe`. */
  readonly samples: readonly Sample[];
}

/** Facts common to all runs of a scrape. */
export interface ScrapeFacts {
  /** True if the target is an address: nothing was resolved. */
  readonly isLiteral: boolean;
  /** Time since the scrape began, for a probe that has not ended. */
  readonly elapsedMs: number;
  /**
   * Probes whose result says nothing about the target, as the summary counts them: their resolver fails, or their clock
   * is wrong.
   */
  readonly notMeasured?: ReadonlySet<string>;
  /** Hashes of the paths by probe, hexadecimal; of a traceroute only. */
  readonly pathHashes?: Readonly<Record<string, string>> | undefined;
}

/**
 * The series of one probe, with the label `probe`: those of blackbox_exporter with its names and labels, and others.
 */
export function probeSeries(module: Module, { probe, result, place }: ProbeRun, facts: ScrapeFacts): ScrapedRun {
  const { success, reasons, samples } = read(
    module,
    result,
    facts.isLiteral ? 0 : undefined,
    facts.pathHashes?.[probe],
  );
  const isOld = result.result !== 'pending' && lacksRules(module, result);
  const isUnmeasured = facts.notMeasured?.has(probe) === true;
  const measured = result.result !== 'error' && (result.startedAt ?? null) !== null && !isOld && !isUnmeasured;
  const isSuccess = success && measured;
  const all = [
    gauge('probe_success', isSuccess ? 1 : 0),
    gauge('probe_duration_seconds', durationMs(result, facts.elapsedMs) / 1_000),
    gauge('vantage_probe_measured', measured ? 1 : 0),
    gauge('vantage_probe_info', 1, infoOf(place)),
    ...samples,
  ];
  return {
    probe,
    success: isSuccess,
    reasons: reasons.length > 0 || isSuccess ? reasons : ['The probe did not measure.'],
    samples: all.map((sample) => ({ ...sample, labels: { ...sample.labels, probe } })),
  };
}

/** True for the result of an agent of an earlier release that does not know the rules of the module. */
function lacksRules(module: Module, result: AnyResult): boolean {
  if (module.prober === 'http') return lacksHttpRules(module, result);
  return module.prober === 'tcp' && lacksDialogue(module, result);
}

function read(
  module: Module,
  result: AnyResult,
  literalMs: number | undefined,
  pathHash: string | undefined,
): Reading & { readonly samples: readonly Sample[] } {
  const resolveMs = literalMs ?? (result as { readonly resolve?: number }).resolve;
  if (module.prober === 'icmp') return { ...icmpReading(result), samples: icmpSeries(result, resolveMs) };
  if (module.prober === 'traceroute') {
    return { ...tracerouteReading(result), samples: tracerouteSeries(result, resolveMs, pathHash) };
  }
  if (module.prober === 'tcp') return { ...tcpReading(module, result), samples: tcpSeries(module, result, resolveMs) };
  if (module.prober === 'http') return { ...httpReading(module, result), samples: httpSeries(module, result) };
  return { ...dnsReading(module, result), samples: dnsSeries(module, result, resolveMs) };
}

/** Times in a result are whole milliseconds: shorter runs count as half of one, not as zero. */
const LEAST_MS = 0.5;

function durationMs({ startedAt, finishedAt }: AnyResult, elapsedMs: number): number {
  if (typeof startedAt !== 'string' || finishedAt === undefined) return elapsedMs;
  return Math.max(LEAST_MS, Date.parse(finishedAt) - Date.parse(startedAt));
}

function infoOf(place: Probe | undefined): Readonly<Record<string, string>> {
  return {
    name: place?.name ?? '',
    country: place?.countryCode ?? '',
    city: place?.city ?? '',
    datacenter: place?.datacenter ?? '',
    isp: place?.isp ?? '',
    asn: place?.asNumber ?? '',
  };
}
