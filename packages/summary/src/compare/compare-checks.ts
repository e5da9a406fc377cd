import { escapeText, type Check, type Comparison, type Difference } from '@vantage/contract';
import type { ProbeComparison, SharedDifference, Summary, Verdict } from '@vantage/contract';

import { ofType, probeResultsOf, type ProbeResult } from '../probe-result.ts';
import { tracesOf } from '../traceroute/trace.ts';
import { percent } from '../words.ts';
import { certainly, differentValue, type DifferenceDraft } from './difference.ts';
import { isUnmeasured, outcomeDifferences } from './fields/common.ts';
import { lossOf, measuredDifferences, requestDifferences } from './fields/of-type.ts';
import { isBeyondChance, isLossChange } from './noise.ts';
import { comparePaths } from './path/compare-paths.ts';
import { pathDifferences } from './path/path-text.ts';
import { sentenceOf } from './sentence.ts';
import { sharedDifferences } from './shared.ts';

/** A completed check with its summary. */
export interface ComparedCheck {
  readonly check: Check;
  readonly summary: Pick<Summary, 'verdict'>;
}

/**
 * Compares two completed checks of one type, probe by probe. Deterministic, and independent of the order of results. Does not throw
 * for results that are valid by their schemas.
 */
export function compareChecks(a: ComparedCheck, b: ComparedCheck): Comparison {
  const { type } = a.check;
  const [resultsOfA, resultsOfB] = [a, b].map(({ check }) => probeResultsOf(check, new Map()));
  const pairs = resultsOfA!.flatMap((ofA) => {
    const ofB = resultsOfB!.find(({ probe }) => probe === ofA.probe);
    return ofB === undefined ? [] : [[ofA, ofB] as const];
  });
  const drafts = new Map(pairs.map(([ofA, ofB]) => [ofA.probe, compareProbe(type, ofA, ofB, pairs.length)]));
  const ofCheck = [
    ...differentValue({ subject: 'request', name: 'host', label: 'host' }, a.check.host, b.check.host),
    ...verdictDifferences(a.summary.verdict, b.summary.verdict),
  ];
  const differences = sharedDifferences(ofCheck, drafts);
  const measured = pairs.filter((pair) => !pair.some(isUnmeasured)).length;
  const sides = { a: sideOf(a, b), b: sideOf(b, a) };
  return {
    type,
    ...sides,
    result: resultOf(differences, measured),
    sentence: escapeText(sentenceOf(differences, sides, { compared: pairs.length, measured }), 1_024),
    differences: [...differences],
    probes: Object.fromEntries([...drafts].map(([probe, draft]) => [probe, published(draft)])),
  };
}

interface ProbeDraft extends ProbeComparison {
  readonly differences: readonly DifferenceDraft[];
}

function published({ differences, ...draft }: ProbeDraft): ProbeComparison {
  return { differences: differences.map(({ chance: _chance, ...difference }) => difference), ...draft };
}

/** @param measured number of probes that measured in both checks; if it is 0, nothing is known to be equal */
function resultOf(differences: readonly SharedDifference[], measured: number): Comparison['result'] {
  if (differences.some(({ certain }) => certain)) return 'different';
  return differences.length > 0 || measured === 0 ? 'unsure' : 'same';
}

/** Without a verdict, nothing is known about the target. */
function verdictDifferences(a: Verdict, b: Verdict): readonly Difference[] {
  const differences = differentValue({ subject: 'verdict', label: 'verdict' }, a, b);
  return [a, b].includes('unknown') ? differences.map(uncertainly) : differences;
}

function uncertainly(difference: Difference): Difference {
  return { ...difference, certain: false };
}

function sideOf({ check, summary }: ComparedCheck, other: ComparedCheck): Comparison['a'] {
  const { testId, host, createdAt, results } = check;
  const probes = Object.keys(results).filter((probe) => !Object.hasOwn(other.check.results, probe));
  return { checkId: testId, host, createdAt, verdict: summary.verdict, probes: probes.toSorted() };
}

/** @param count number of compared probes */
function compareProbe(type: string, a: ProbeResult, b: ProbeResult, count: number): ProbeDraft {
  const [request, outcome] = [requestDifferences(type, a, b), outcomeDifferences(a, b)];
  // A probe that could not measure says nothing about the target.
  if (isUnmeasured(a) || isUnmeasured(b)) return { differences: [...request, ...outcome.map(uncertainly)] };
  const { path, differences: ofPath } = type === 'traceroute' ? pathOf(a, b) : { path: undefined, differences: [] };
  const loss = outcome.length > 0 ? [] : lossDifferences(type, a, b, count);
  const measured = measuredDifferences(type, a, b).map((draft) =>
    draft.chance !== undefined && isBeyondChance(1, count, draft.chance) ? certainly(draft) : draft,
  );
  const differences = [...request, ...outcome, ...measured, ...ofPath, ...loss];
  return { differences, ...(path === undefined ? {} : { path }) };
}

function pathOf(a: ProbeResult, b: ProbeResult): Required<ProbeComparison> {
  const [[traceOfA], [traceOfB]] = [a, b].map((one) => tracesOf(ofType<'traceroute'>([one]))) as [
    ReturnType<typeof tracesOf>,
    ReturnType<typeof tracesOf>,
  ];
  const path = comparePaths(traceOfA, traceOfB);
  return { path, differences: pathDifferences(path, traceOfA, traceOfB) };
}

function lossDifferences(type: string, a: ProbeResult, b: ProbeResult, count: number): readonly Difference[] {
  const [ofA, ofB] = [lossOf(type, a), lossOf(type, b)];
  if (ofA === undefined || ofB === undefined || !isLossChange(ofA, ofB, count)) return [];
  const [shareOfA, shareOfB] = [ofA, ofB].map(({ sent, lost }) => lost / sent) as [number, number];
  const text = ([share, { sent, lost }]: readonly [number, { readonly sent: number; readonly lost: number }]): string =>
    lost === 0 ? `0 of ${sent}` : `${lost} of ${sent} (${percent(share)})`;
  const [textOfA, textOfB] = [text([shareOfA, ofA]), text([shareOfB, ofB])];
  return [
    {
      subject: 'loss',
      name: null,
      certain: true,
      a: [textOfA],
      b: [textOfB],
      amounts: { a: shareOfA, b: shareOfB, unit: 'share' },
      text: `lost ${textOfA} → ${textOfB}`,
    },
  ];
}
