import type { Check, PathComparison } from '@vantage/contract';

import { ofType, probeResultsOf } from '../probe-result.ts';
import { isSilent, tracesOf, type Trace } from '../traceroute/trace.ts';
import { listed } from '../words.ts';
import { comparePaths } from './path/compare-paths.ts';
import { kindOfChange, pathDifferences } from './path/path-text.ts';

/** Conclusion from a later traceroute of a probe about its path. */
export interface PathStep {
  readonly relation: PathComparison['relation'];
  /** The change as a sentence; null unless it is certain. */
  readonly text: string | null;
  /** Whether the path changed, or only the address from which a hop answers, which may be that of the same router. */
  readonly change: 'path' | 'hop';
  /** Whether the later trace is the one to compare further traces with. */
  readonly isBaseline: boolean;
}

/** @returns probes with a trace that reached the target, with which later traces can be compared */
export function reachedFrom(check: Check): readonly string[] {
  return finalTraces(check).flatMap(({ isReached, probeResult }) => (isReached ? probeResult.probe : []));
}

/**
 * Compares a traceroute of a monitor with the one that is the baseline of a probe. Unless the change is certain, the
 * baseline is kept for an uncertain difference, so that later traces decide, and for a trace that did not reach the target
 * or contains less of the path.
 */
export function followPath(baseline: Check, check: Check, probe: string): PathStep | undefined {
  const [a, b] = [baseline, check].map((one) => finalTraces(one).find((trace) => trace.probeResult.probe === probe));
  if (b === undefined) return undefined;
  const comparison = comparePaths(a, b);
  const { relation } = comparison;
  const isFuller = a === undefined || knownHops(b) >= knownHops(a);
  const [difference] = relation === 'changed' ? pathDifferences(comparison, a, b) : [];
  return {
    relation,
    text: difference?.text ?? null,
    change: kindOfChange(comparison.changes),
    isBaseline:
      relation === 'changed' || (b.isReached && relation !== 'unsure' && (relation !== 'compatible' || isFuller)),
  };
}

/** Formats the changes of all probes as one sentence: `Path at hop 3: … → … (fra-1 and nyc-1).` */
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
