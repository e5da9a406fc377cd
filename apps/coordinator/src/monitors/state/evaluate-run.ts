import type { Check, RunAtProbe } from '@vantage/contract';
import {
  evidenceByProbe,
  otherFamilyOf,
  summarize,
  withoutFalseArrivals,
  type Evidence,
  type ProbeFacts,
} from '@vantage/summary';

import type { MonitorDefinition } from '../definition.ts';
import { evaluateResult } from './expectations.ts';
import type { TickOutcome } from './monitor-state.ts';

/** Outcome of a tick; times are milliseconds since the epoch. */
export interface RunRecord {
  readonly tick: number;
  readonly checkId: string | null;
  readonly atMs: number;
  readonly startedMs: number | null;
  /** Why no check was started; null if one was. */
  readonly reason: string | null;
  readonly results: Readonly<Record<string, RunAtProbe>>;
  /** Locations of the definition without a probe that could run the check; absent if there are none. */
  readonly emptyLocations?: readonly string[];
}

/** A run whose results are not known yet. */
export interface StartedRun extends Omit<RunRecord, 'results'> {
  /** Probes that the definition names and that do not exist; absent if there are none. */
  readonly removed?: readonly string[];
}

export interface EvaluatedRun {
  readonly run: RunRecord;
  readonly outcome: TickOutcome;
}

const REMOVED: RunAtProbe = {
  state: 'unmeasured',
  reason: 'There is no such probe.',
  rtt: null,
  loss: null,
  certificateDays: null,
  status: null,
};

/**
 * Decides on the results of a tick.
 *
 * @param reported the check; undefined if none was started or its results are gone
 */
export function evaluateRun(
  { removed = [], ...started }: StartedRun,
  reported: Check | undefined,
  { expectation }: Pick<MonitorDefinition, 'expectation'>,
  facts: ReadonlyMap<string, ProbeFacts>,
): EvaluatedRun {
  const check = reported && withoutFalseArrivals(reported);
  const evidence: ReadonlyMap<string, Evidence> = check === undefined ? new Map() : evidenceByProbe(check);
  const others = check === undefined ? new Map<string, RunAtProbe>() : evaluateOthers(check, expectation);
  const results = Object.entries(check?.results ?? {}).map(([probe, result]) => {
    const first = evaluateResult(result, evidence.get(probe), expectation);
    const other = others.get(probe);
    return [probe, first.state !== 'failing' && other?.state === 'failing' ? { ...first, ...other } : first] as const;
  });
  results.push(...removed.map((probe) => [probe, REMOVED] as const));
  const probes = results.map(([probe, result]) => {
    const { asNumber = null, countryCode = null } = facts.get(probe) ?? {};
    return [probe, { ...result, network: asNumber, country: countryCode }] as const;
  });
  const headline = check === undefined ? started.reason : headlineOf(check, results, evidence, facts, expectation);
  return {
    run: { ...started, results: Object.fromEntries(results) },
    outcome: { tick: started.tick, atMs: started.atMs, headline, probes: Object.fromEntries(probes) },
  };
}

/** Decides on the measurements over the second address family, by the same expectations. */
function evaluateOthers(check: Check, expectation: MonitorDefinition['expectation']): ReadonlyMap<string, RunAtProbe> {
  const other = otherFamilyOf(check);
  const evidence = evidenceByProbe(other);
  return new Map(
    Object.entries(other.results).map(([probe, result]) => {
      const evaluated = evaluateResult(result, evidence.get(probe), expectation);
      const { family } = result as unknown as { readonly family: number };
      return [probe, { ...evaluated, reason: evaluated.reason === null ? null : `IPv${family}: ${evaluated.reason}` }];
    }),
  );
}

type Results = readonly (readonly [string, RunAtProbe])[];

/** The sentence of the summary, unless expectations decide otherwise than the summary about a probe. */
function headlineOf(
  check: Check,
  results: Results,
  evidence: ReadonlyMap<string, Evidence>,
  facts: ReadonlyMap<string, ProbeFacts>,
  { status }: MonitorDefinition['expectation'],
): string {
  const failing = results.filter(([, { state }]) => state === 'failing');
  const fine = results.filter(([, { state }]) => state === 'ok');
  const isExcused = status !== undefined && fine.some(([probe]) => evidence.get(probe) !== 'up');
  if (failing.length === 0 && isExcused) return expected(fine);
  if (!isExcused && failing.every(([probe]) => evidence.get(probe) === 'down')) return summarize(check, facts).headline;
  const [first] = failing;
  const others = failing.length === 1 ? '' : `, and ${failing.length - 1} more`;
  const measured = failing.length + fine.length;
  const text = `Fails from ${failing.length} of ${measured} probes: ${first![0]}: ${first![1].reason?.replace(/\.$/, '')}${others}.`;
  return text.slice(0, 1_024);
}

/** Headline for HTTP statuses that are errors by their class but expected by the definition. */
function expected(fine: Results): string {
  const codes = [...new Set(fine.flatMap(([, { status }]) => status ?? []))].toSorted((a, b) => a - b);
  const count = fine.length === 1 ? 'one probe' : `${fine.length} probes`;
  return `Answers as expected from ${count}, with status ${codes.join(', ')}.`;
}
