import type { FindingCode } from '@vantage/contract';

import { buildFinding, severityByShare, type FindingDraft } from '../finding.ts';
import { firstByteOf } from '../first-byte.ts';
import type { ProbeResult, SparseResultOf } from '../probe-result.ts';
import { thresholds } from '../thresholds.ts';
import { listed, ms, safeText, unique } from '../words.ts';

type HttpResult = ProbeResult<SparseResultOf<'http'>>;
type Timings = NonNullable<SparseResultOf<'http'>['timings']>;

interface Slow {
  readonly probeResult: HttpResult;
  readonly slowMs: number;
  /** The slow host, if there were redirects. */
  readonly host: string | undefined;
  /** Milliseconds to the first byte, if that came within the limit and only the rest of the head was late. */
  readonly earlyMs?: number | undefined;
}

interface Rule {
  readonly code: FindingCode;
  readonly phase: 'dns' | 'tls' | 'firstByte';
  readonly limitOf: (connectMs: number) => number;
  readonly what: string;
  readonly brief: string;
  readonly why?: string;
}

const { tls, firstByte, nameResolutionMs } = thresholds;

const rules: readonly Rule[] = [
  {
    code: 'name_resolution_slow',
    phase: 'dns',
    limitOf: () => nameResolutionMs,
    what: 'The resolution of the name took long',
    brief: 'the resolution of the name took long',
  },
  {
    code: 'tls_slow',
    phase: 'tls',
    limitOf: (connect) => tls.connects * connect + tls.plusMs,
    what: 'The TLS handshake took far longer than the TCP handshake',
    brief: 'the TLS handshake took far longer than the TCP handshake',
  },
  {
    code: 'http_server_slow',
    phase: 'firstByte',
    limitOf: (connect) => firstByte.connects * connect + firstByte.plusMs,
    what: 'The answer took long to begin',
    brief: 'the answer took long to begin',
    why: ' The server was slow, or packets were lost on the way.',
  },
];

/** Findings: slow phases of requests, those that were redirected included. */
export function findSlowness(probeResults: readonly HttpResult[]): readonly FindingDraft[] {
  const measured = probeResults.filter(({ result }) => requestsOf(result).some(({ timings }) => isConnected(timings)));
  return rules.flatMap((rule) => {
    const slow = probeResults.flatMap((probeResult) => slowestOf(probeResult, rule));
    return slow.length === 0 ? [] : [slowFound(rule, slow, measured.length)];
  });
}

function isConnected(timings: Timings): boolean {
  return timings.connect !== undefined;
}

function requestsOf({ redirects = [], url, timings, rt = null }: SparseResultOf<'http'>): readonly {
  readonly url: string | undefined;
  readonly timings: Timings;
  readonly rt?: number | null;
}[] {
  return [...redirects, ...(timings === undefined ? [] : [{ url, timings, rt }])];
}

/** The slowest of a probe’s requests that are too slow. */
function slowestOf(probeResult: HttpResult, { phase, limitOf }: Rule): readonly Slow[] {
  const { result } = probeResult;
  const isRedirected = (result.redirects ?? []).length > 0;
  const slow = requestsOf(result).flatMap(({ url, timings, rt }): Slow[] => {
    const limitMs = limitOf(timings.connect ?? 0);
    const phaseMs = timings[phase];
    if (phaseMs === undefined) return [];
    const slowMs = phaseMs + (phase === 'firstByte' ? restOfHeadMs(timings, rt) : 0);
    if (slowMs <= limitMs) return [];
    const host = URL.parse(url ?? '')?.host;
    const earlyMs = phaseMs <= limitMs ? phaseMs : undefined;
    return [
      { probeResult, slowMs, earlyMs, host: isRedirected && host !== undefined ? safeText(host, 120) : undefined },
    ];
  });
  return slow.toSorted((a, b) => b.slowMs - a.slowMs).slice(0, 1);
}

/**
 * Milliseconds from the first byte, which may be that of an interim answer such as early hints (103), to the end of the
 * head.
 */
function restOfHeadMs(timings: Timings, rt: number | null | undefined): number {
  return Math.max(0, (rt ?? 0) - (firstByteOf(timings) ?? 0));
}

function slowFound({ code, what, brief, why = '' }: Rule, slow: readonly Slow[], measured: number): FindingDraft {
  const values = slow.map(
    ({ probeResult: { probe }, slowMs, host, earlyMs }) =>
      `${probe} ${ms(slowMs)}${host === undefined ? '' : ` at ${host}`}${earlyMs === undefined ? '' : ` (its first byte, as of an early hint, after ${ms(earlyMs)})`}`,
  );
  const probeResults = slow.map(({ probeResult }) => probeResult);
  const [host, ...others] = unique(slow.map((one) => one.host ?? ''));
  const where = host === '' || others.length > 0 ? brief : `${brief} at ${host}`;
  return buildFinding(
    code,
    severityByShare(slow.length, measured),
    probeResults,
    `${what}: ${listed(values)}.${why}`,
    where,
  );
}
