import type { Difference, DifferenceSubject, Family, ProbeComparison } from '@vantage/contract';

import { measurementsOf, overOneFamily, soleFamilyOf } from '../measurements.ts';
import { ofType, type ProbeResult } from '../probe-result.ts';
import { tracesOf } from '../traceroute/trace.ts';
import { thresholds } from '../thresholds.ts';
import { percent } from '../words.ts';
import {
  certainly,
  differentValue,
  FEW_PACKETS,
  LOSS_OR_LIMIT,
  uncertainly,
  type DifferenceDraft,
} from './difference.ts';
import { isMeasured, type EvidenceOf } from './evidence.ts';
import { ELSEWHERE, elsewhere, isElsewhere, otherServer, outcomeDifferences } from './fields/common.ts';
import { lossOf, measuredDifferences, requestDifferences, weighedByFlows } from './fields/of-type.ts';
import { doubted, mayBeBalanced, pathFieldDifferences } from './fields/traceroute.ts';
import { chanceOfLossChange, isBeyondChance, isLossChange } from './noise.ts';
import { comparePaths } from './path/compare-paths.ts';
import { pathDifferences } from './path/path-text.ts';
import { unlessByLoss } from './silence.ts';

/** The comparison of one probe, before differences that too few probes share are removed as noise. */
export interface ProbeDraft extends ProbeComparison {
  readonly differences: readonly DifferenceDraft[];
}

export interface EvidencePair {
  readonly a: EvidenceOf;
  readonly b: EvidenceOf;
  /** Value of `lossRateOf` for the results of both checks. */
  readonly lossRate: number;
}

/**
 * Compares the results of one probe; family by family if both checks measured over both. If only one did, its
 * measurement over the family of the other is compared, or its first one if that family is not known.
 *
 * @param count number of compared probes
 */
export function compareProbe(
  type: string,
  a: ProbeResult,
  b: ProbeResult,
  count: number,
  evidence: EvidencePair,
): ProbeDraft {
  const [ofA, ofB] = [measurementsOf(a), measurementsOf(b)];
  const request = [...requestDifferences(type, a, b), ...familiesDifference(ofA !== undefined, ofB !== undefined)];
  if (ofA === undefined || ofB === undefined) {
    const family = soleFamilyOf(ofA === undefined ? a : b);
    const { differences, ...draft } = compareMeasurements(type, ...overOneFamily([a, b]), count, evidence, family);
    return { differences: [...request, ...differences], ...draft };
  }
  const over = (family: Family): ProbeDraft =>
    compareMeasurements(type, ofA[family], ofB[family], 2 * count, evidence, family);
  const [ipv4, ipv6] = [over(4), over(6)];
  return {
    differences: [...request, ...ipv4.differences.map(of(4)), ...ipv6.differences.map(of(6))],
    ...(ipv4.path === undefined ? {} : { path: ipv4.path }),
    ...(ipv6.path === undefined ? {} : { otherPath: ipv6.path }),
  };
}

function familiesDifference(a: boolean, b: boolean): readonly Difference[] {
  const text = (isBoth: boolean): string => (isBoth ? 'both' : 'one');
  return differentValue({ subject: 'request', name: 'families', label: 'address families' }, text(a), text(b));
}

function of(family: Family): (difference: DifferenceDraft) => DifferenceDraft {
  return (difference) => ({ ...difference, family });
}

function compareMeasurements(
  type: string,
  a: ProbeResult,
  b: ProbeResult,
  count: number,
  evidence: EvidencePair,
  family: Family | undefined,
): ProbeDraft {
  const kinds = [evidence.a(a, family), evidence.b(b, family)];
  const found = outcomeDifferences(a, b);
  // A target that is up may rate-limit its answers, and so leave a whole trace without any.
  const isLimited = type === 'traceroute' && kinds.every((kind) => kind === 'up');
  const outcome = isLimited ? found.map(uncertainly) : found;
  // A probe that could not measure says nothing about the target.
  if (!kinds.every(isMeasured)) return { differences: outcome.map(uncertainly) };
  const { path, differences: ofPath } = type === 'traceroute' ? pathOf(a, b) : { path: undefined, differences: [] };
  const isDoubtful = path !== undefined && mayBeBalanced(path, a, b);
  const loss = outcome.length > 0 ? [] : lossDifferences(type, a, b, count);
  const measured = measuredDifferences(type, a, b).map((difference) => {
    const { chance, ...draft } = difference;
    if (chance === undefined) return draft;
    // For traces, the comparison of the paths shows whether a load balancer may explain the difference.
    if (type === 'traceroute') return isDoubtful ? doubted(difference) : weighed(difference, count);
    return weighed(weighedByFlows(type, a, b, difference), count);
  });
  const crossed = [...(type === 'traceroute' ? pathFieldDifferences(a, b) : []), ...loss];
  const all: readonly DifferenceDraft[] = [
    ...outcome,
    ...measured,
    ...ofPath,
    ...(isDoubtful ? crossed.map(doubted) : crossed),
  ];
  const where = type === 'dns' ? otherServer(a, b) : isElsewhere(a, b) ? ELSEWHERE : undefined;
  const placed =
    where === undefined ? all : all.map((one) => (ofServer.has(one.subject) ? elsewhere(one, where) : one));
  // Silence that proves nothing may be due to loss, so no difference from it is certain.
  const differences = kinds.includes('silent')
    ? placed.map(({ chance: _chance, ...one }) => uncertainly(one))
    : placed.map(unlessByLoss(type, a, b, count, evidence.lossRate));
  return { differences, ...(path === undefined ? {} : { path }) };
}

/** Marks a difference of times as certain if chance does not explain one such difference among `count` measurements. */
function weighed(difference: DifferenceDraft, count: number): DifferenceDraft {
  return isBeyondChance(1, count, difference.chance ?? 1) ? certainly(difference) : difference;
}

/**
 * Subjects whose differences are doubted if the checks measured different addresses of a name, or asked other servers.
 */
const ofServer: ReadonlySet<DifferenceSubject> = new Set([
  'outcome',
  'state',
  'status',
  'redirect',
  'answers',
  'certificate',
  'protocol',
  'rtt',
  'phase',
  'loss',
]);

function pathOf(a: ProbeResult, b: ProbeResult): Required<Pick<ProbeComparison, 'path' | 'differences'>> {
  const [[traceOfA], [traceOfB]] = [a, b].map((one) => tracesOf(ofType<'traceroute'>([one]))) as [
    ReturnType<typeof tracesOf>,
    ReturnType<typeof tracesOf>,
  ];
  const path = comparePaths(traceOfA, traceOfB);
  return { path, differences: pathDifferences(path, traceOfA, traceOfB) };
}

function lossDifferences(type: string, a: ProbeResult, b: ProbeResult, count: number): readonly DifferenceDraft[] {
  const [ofA, ofB] = [lossOf(type, a), lossOf(type, b)];
  if (ofA === undefined || ofB === undefined) return [];
  const chance = chanceOfLossChange(ofA, ofB);
  if (chance > thresholds.compare.lossIfAgreed) return [];
  const certain = isLossChange(ofA, ofB, count);
  const [shareOfA, shareOfB] = [ofA, ofB].map(({ sent, lost }) => lost / sent) as [number, number];
  const text = ([share, { sent, lost }]: readonly [number, { readonly sent: number; readonly lost: number }]): string =>
    lost === 0 ? `0 of ${sent}` : `${lost} of ${sent} (${percent(share)})`;
  const [textOfA, textOfB] = [text([shareOfA, ofA]), text([shareOfB, ofB])];
  return [
    {
      subject: 'loss',
      name: null,
      certain,
      chance,
      isTentative: !isLossChange(ofA, ofB, 1),
      a: [textOfA],
      b: [textOfB],
      amounts: { a: shareOfA, b: shareOfB, unit: 'share' },
      text: `unanswered ${textOfA} → ${textOfB}${maybeLimited(type, a, b)}${certain ? '' : FEW_PACKETS}`,
    },
  ];
}

/**
 * Text with the possible causes of missing answers; empty for handshakes and SYNs, because hosts hardly rate-limit
 * answers to so few.
 */
function maybeLimited(type: string, ...results: readonly ProbeResult[]): string {
  const isByTcp = ofType<'traceroute'>(results).some(({ result }) => result.protocol === 'tcp');
  return type === 'ping' || (type === 'traceroute' && !isByTcp) ? LOSS_OR_LIMIT : '';
}
