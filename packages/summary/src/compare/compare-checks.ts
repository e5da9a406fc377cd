import { escapeText, type Check, type Comparison, type Difference } from '@vantage/contract';
import type { ProbeComparison, SharedDifference, Summary, Verdict } from '@vantage/contract';

import { probeResultsOf } from '../probe-result.ts';
import { compareProbe, type ProbeDraft } from './compare-probe.ts';
import { differentValue, overFamily, uncertainly } from './difference.ts';
import { isUnmeasured } from './fields/common.ts';
import { askedDifferences } from './fields/asked.ts';
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
    ...askedDifferences(type, a.check.request, b.check.request),
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

function published({ differences, ...draft }: ProbeDraft): ProbeComparison {
  return { differences: differences.map(({ chance: _chance, ...difference }) => overFamily(difference)), ...draft };
}

/** @param measured number of probes that measured in both checks; if it is 0, nothing is known to be equal */
function resultOf(differences: readonly SharedDifference[], measured: number): Comparison['result'] {
  if (differences.some(({ certain }) => certain)) return 'different';
  return differences.length > 0 || measured === 0 ? 'unsure' : 'same';
}

/** Difference of the verdicts; uncertain if one is `unknown`, which says nothing about the target. */
function verdictDifferences(a: Verdict, b: Verdict): readonly Difference[] {
  const differences = differentValue({ subject: 'verdict', label: 'verdict' }, a, b);
  return [a, b].includes('unknown') ? differences.map(uncertainly) : differences;
}

function sideOf({ check, summary }: ComparedCheck, other: ComparedCheck): Comparison['a'] {
  const { testId, host, createdAt, results } = check;
  const probes = Object.keys(results).filter((probe) => !Object.hasOwn(other.check.results, probe));
  return { checkId: testId, host, createdAt, verdict: summary.verdict, probes: probes.toSorted() };
}
