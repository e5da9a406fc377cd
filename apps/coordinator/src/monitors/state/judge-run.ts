import type { Check, RunAtProbe } from '@vantage/contract';
import { evidenceByProbe, summarize, type ProbeFacts } from '@vantage/summary';

import type { MonitorDefinition } from '../definition.ts';
import { judgeResult } from './expectations.ts';
import type { TickOutcome } from './reduce.ts';

/** Outcome of a tick; times are milliseconds since the epoch. */
export interface RunRecord {
  readonly tick: number;
  readonly checkId: string | null;
  readonly atMs: number;
  readonly startedMs: number | null;
  /** Why no check was started. */
  readonly reason: string | null;
  readonly results: Readonly<Record<string, RunAtProbe>>;
}

export interface JudgedRun {
  readonly run: RunRecord;
  readonly outcome: TickOutcome;
}

/**
 * Decides on the results of a tick.
 *
 * @param check undefined if none was started or its results are gone
 */
export function judgeRun(
  started: Omit<RunRecord, 'results'>,
  check: Check | undefined,
  { expectation }: Pick<MonitorDefinition, 'expectation'>,
  facts: ReadonlyMap<string, ProbeFacts>,
): JudgedRun {
  const evidence = check === undefined ? new Map() : evidenceByProbe(check);
  const results = Object.entries(check?.results ?? {}).map(
    ([probe, result]) => [probe, judgeResult(result, evidence.get(probe), expectation)] as const,
  );
  const probes = results.map(([probe, result]) => {
    const { asNumber = null, countryCode = null } = facts.get(probe) ?? {};
    return [probe, { ...result, network: asNumber, country: countryCode }] as const;
  });
  const headline = check === undefined ? started.reason : headlineOf(check, results, evidence, facts);
  return {
    run: { ...started, results: Object.fromEntries(results) },
    outcome: { tick: started.tick, atMs: started.atMs, headline, probes: Object.fromEntries(probes) },
  };
}

/** The sentence of the summary, unless it is an expectation that fails and the target answers. */
function headlineOf(
  check: Check,
  results: readonly (readonly [string, RunAtProbe])[],
  evidence: ReadonlyMap<string, string>,
  facts: ReadonlyMap<string, ProbeFacts>,
): string {
  const failing = results.filter(([, { state }]) => state === 'failing');
  const measured = results.filter(([, { state }]) => state !== 'unmeasured');
  if (failing.every(([probe]) => evidence.get(probe) === 'down')) return summarize(check, facts).headline;
  const [first] = failing;
  const others = failing.length === 1 ? '' : `, and ${failing.length - 1} more`;
  const text = `Fails from ${failing.length} of ${measured.length} probes: ${first![0]}: ${first![1].reason}${others}.`;
  return text.slice(0, 1_024);
}
