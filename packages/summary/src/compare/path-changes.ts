import type { Check, PathComparison } from '@vantage/contract';

import { ofType, probeResultsOf } from '../probe-result.ts';
import { isSilent, tracesOf, type Trace } from '../traceroute/trace.ts';
import { listed } from '../words.ts';
import { comparePaths, isComparable } from './path/compare-paths.ts';
import { lastingChange } from './path/lasting-ways.ts';
import { moveOf, type PathMove } from './path/move.ts';
import { kindOfChange, kindOfLasting, lastingText, pathDifferences } from './path/path-text.ts';

/** Conclusion from a later traceroute of a probe about its path. */
export interface PathStep {
  readonly relation: PathComparison['relation'];
  /** The change as a clause; null unless it is certain. */
  readonly text: string | null;
  /**
   * `path` if the path changed; `hop` without a change, or if only the addresses from which hops answer changed, which
   * may belong to the same routers (`kindOfChange`).
   */
  readonly change: 'path' | 'hop';
  /** The change in fields; null unless it is certain. */
  readonly move: PathMove | null;
  /** Whether the later trace is the one to compare further traces with. */
  readonly isBaseline: boolean;
  /**
   * Hash of the later path. In runs with equal hashes `followWays` finds nothing. Null if the traces are not compared,
   * or the later one did not reach the target.
   */
  readonly hash: string | null;
}

/** @returns probes with a final trace that reached the target */
export function reachedFrom(check: Check): readonly string[] {
  return finalTraces(check).flatMap(({ isReached, probeResult }) => (isReached ? probeResult.probe : []));
}

/**
 * Compares a traceroute of a monitor with the one that is the baseline of a probe; undefined without a final trace of
 * this probe. A certain change makes the later trace the baseline. Otherwise the baseline is kept if the difference is
 * uncertain, so that later traces decide, if the later trace did not reach the target, or if its path is compatible and
 * has fewer known hops.
 */
export function followPath(baseline: Check, check: Check, probe: string): PathStep | undefined {
  const [a, b] = [baseline, check].map((one) => finalTraces(one).find((trace) => trace.probeResult.probe === probe));
  if (b === undefined) return undefined;
  const comparison = comparePaths(a, b);
  const { relation } = comparison;
  const isCompared = relation !== 'not_compared' && b.isReached;
  const isFuller = a === undefined || knownHops(b) >= knownHops(a);
  const [difference] = relation === 'changed' ? pathDifferences(comparison, a, b) : [];
  return {
    relation,
    text: difference?.text ?? null,
    change: kindOfChange(comparison.changes),
    move: difference === undefined ? null : moveOf(comparison.changes, [a!], [b]),
    hash: isCompared ? comparison.b!.hash : null,
    isBaseline:
      relation === 'changed' || (b.isReached && relation !== 'unsure' && (relation !== 'compatible' || isFuller)),
  };
}

/**
 * A change before the last runs: a load balancer lost or gained paths, or other routers replaced those of some hops.
 */
export interface WaysStep {
  readonly text: string;
  readonly change: 'path' | 'ways' | 'hop';
  readonly move: PathMove;
  /** Number of runs after the change: none shows a lost path, several show a new one. */
  readonly later: number;
}

/** Maximum number of runs that `followWays` considers. */
export const MOST_PATH_RUNS = 16;

/**
 * Finds paths of load balancers that were lost or gained in the last `MOST_PATH_RUNS` runs of a monitor at a probe.
 * Expects runs between which no change of the path is certain. Undefined if there is none, if it is not proved yet, or
 * if the last run did not reach the target.
 *
 * @param checks oldest first
 */
export function followWays(checks: readonly Check[], probe: string): WaysStep | undefined {
  const traces = checks.flatMap((check) => finalTraces(check).find((trace) => trace.probeResult.probe === probe) ?? []);
  const last = traces.at(-1);
  if (last === undefined) return undefined;
  const own = traces.filter((trace) => trace.isReached && isComparable(trace, last));
  const compared = own.slice(-MOST_PATH_RUNS);
  const found = own.at(-1) === last ? lastingChange(compared) : undefined;
  if (found === undefined) return undefined;
  const { changes, later } = found;
  const [before, after] = [compared.slice(0, -later), compared.slice(-later)];
  const move = moveOf(changes, before, after);
  return { text: lastingText(changes, before.at(-1)!, last), change: kindOfLasting(changes), move, later };
}

/**
 * Formats changes as one sentence: `Path at hop 3: … → … (fra-1 and nyc-1).` Names at most three; further ones are only
 * counted.
 */
export function pathChangeSentence(texts: ReadonlyMap<string, string>): string {
  const byText = Map.groupBy(texts.keys(), (probe) => texts.get(probe)!);
  const parts = [...byText].map(([text, probes]) => `${text} (${listed(probes.toSorted())})`);
  const sentence = listed(parts, 3);
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`;
}

function finalTraces(check: Check): readonly Trace[] {
  return tracesOf(ofType<'traceroute'>(probeResultsOf(check, new Map()))).filter(({ isFinal }) => isFinal);
}

function knownHops({ steps }: Trace): number {
  return steps.filter((step) => !isSilent(step)).length;
}
