import type { Check, CommonResult, Failure, FailureCode, FailureSource, Finding, Summary } from '@vantage/contract';
import type { CheckTypeName } from '@vantage/diagnostics/contract';

import type { ProbeFacts, SparseResultOf } from '../src/probe-result.ts';
import { summarize, type SummaryFacts } from '../src/summarize.ts';

export const CHECK_ID = 'qPUXvL1sQx2rGJm0Zf7N4w';

/** Locations of probes, by the first part of their id. */
const cities: Readonly<Record<string, ProbeFacts>> = {
  fra: place('Frankfurt', 'DE', 'europe', 'AS64500', 50.11, 8.68),
  ber: place('Berlin', 'DE', 'europe', 'AS64501', 52.52, 13.4),
  muc: place('Munich', 'DE', 'europe', 'AS64500', 48.14, 11.58),
  par: place('Paris', 'FR', 'europe', 'AS64501', 48.86, 2.35),
  lon: place('London', 'GB', 'europe', 'AS64502', 51.51, -0.13),
  nyc: place('New York', 'US', 'north america', 'AS64503', 40.71, -74.01),
  lax: place('Los Angeles', 'US', 'north america', 'AS64504', 34.05, -118.24),
  syd: place('Sydney', 'AU', 'oceania', 'AS64505', -33.87, 151.21),
};

function place(
  city: string,
  countryCode: string,
  continent: string,
  asNumber: string,
  latitude: number,
  longitude: number,
): ProbeFacts {
  return {
    city,
    datacenter: city,
    countryCode,
    continent,
    asNumber,
    isp: `Net ${asNumber.slice(2)}`,
    latitude,
    longitude,
  };
}

export type Result<T extends CheckTypeName> = SparseResultOf<T> & {
  readonly result: CommonResult['result'] | 'pending';
};

const times = { startedAt: '2026-01-01T00:00:00.000Z', finishedAt: '2026-01-01T00:00:01.000Z' };

/** Summarises a check with the given results by probe id; ids without a known city have no record. */
export function summaryOf<T extends CheckTypeName>(
  type: T,
  results: Readonly<Record<string, Result<T>>>,
  facts: SummaryFacts & { readonly host?: string; readonly request?: Check['request'] } = {},
): Summary {
  const check: Check = {
    testId: CHECK_ID,
    type,
    host: facts.host ?? (type === 'http' ? 'https://example.com/' : 'example.com'),
    status: Object.values(results).some(({ result }) => result === 'pending') ? 'pending' : 'completed',
    createdAt: times.startedAt,
    completedAt: null,
    results,
    ...(facts.request === undefined ? {} : { request: facts.request }),
  };
  return summarize(check, factsOf(Object.keys(results)), facts);
}

export function factsOf(probes: readonly string[]): ReadonlyMap<string, ProbeFacts> {
  return new Map(
    probes.flatMap((probe) => {
      const [city = ''] = probe.split('-');
      return Object.hasOwn(cities, city) ? [[probe, cities[city]!] as const] : [];
    }),
  );
}

/** Repeats one result for several probes. */
export function each<R>(probes: string, result: R): Readonly<Record<string, R>> {
  return Object.fromEntries(probes.split(' ').map((probe) => [probe, result]));
}

export const pending = { result: 'pending' } as const;

export function ok<F extends object>(fields: F): F & CommonResult {
  return { result: 'success', rt: 20, resolvedIp: '203.0.113.1', error: null, ...times, ...fields };
}

/** A failed result. */
export function bad<F extends object>(
  code: FailureCode,
  fields: F,
  { result = 'failure', source = 'target', phase = 'connect' }: BadOptions = {},
): F & CommonResult {
  const error: Failure = { code, phase, source, message: `Says the agent: ${code}.` };
  return { result, rt: null, resolvedIp: '203.0.113.1', error, ...times, ...fields };
}

interface BadOptions {
  readonly result?: CommonResult['result'];
  readonly source?: FailureSource;
  readonly phase?: Failure['phase'];
}

/** A probe that could not run the check. */
export function broken(code: FailureCode): CommonResult {
  return bad(code, { resolvedIp: null }, { result: 'error', source: 'probe', phase: 'exec' });
}

/** Every finding as `code severity: probes`. */
export function lines(summary: Summary): readonly string[] {
  return summary.findings.map(line);
}

function line({ code, severity, probes }: Finding): string {
  return `${code} ${severity}: ${probes.join(' ')}`;
}

/** Text of the finding with this code; fails unless there is exactly one. */
export function textOf(summary: Summary, code: Finding['code']): string {
  const texts = summary.findings.filter((one) => one.code === code).map(({ text }) => text);
  if (texts.length !== 1) throw new Error(`${texts.length} findings of ${code}: ${lines(summary).join('; ')}`);
  return texts[0]!;
}
