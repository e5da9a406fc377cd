import { escapeText, type Check, type Comparison, type Difference, type FindingCode } from '@vantage/contract';
import type { ProbeComparison, SharedDifference, Summary } from '@vantage/contract';

import { probeResultsOf } from '../probe-result.ts';
import { compareProbe, type ProbeDraft } from './compare-probe.ts';
import { differentValue, overFamily, uncertainly } from './difference.ts';
import { evidenceIn, isMeasured } from './evidence.ts';
import { requestDifferences } from './fields/request.ts';
import { isSameHost } from './fields/host.ts';
import { everyMeasurement, rotationDoubts, serverDoubts } from './rotation.ts';
import { sentenceOf } from './sentence.ts';
import { sharedDifferences, withoutNoise } from './shared.ts';
import { lossRateOf } from './silence.ts';

/** A completed check with its verdict. */
export interface ComparedCheck {
  readonly check: Check;
  readonly summary: Pick<Summary, 'verdict'> & Partial<Pick<Summary, 'findings'>>;
}

/**
 * Compares two completed checks of one type, probe by probe. Deterministic, and independent of the order of results.
 * Does not throw for results that are valid by their schemas.
 */
export function compareChecks(a: ComparedCheck, b: ComparedCheck): Comparison {
  const { type } = a.check;
  const resultsOfA = probeResultsOf(a.check, new Map());
  const resultsOfB = probeResultsOf(b.check, new Map());
  const pairs = resultsOfA.flatMap((ofA) => {
    const ofB = resultsOfB.find(({ probe }) => probe === ofA.probe);
    return ofB === undefined ? [] : [[ofA, ofB] as const];
  });
  const all = [everyMeasurement(resultsOfA), everyMeasurement(resultsOfB)] as const;
  const lossRate = lossRateOf(type, all.flat());
  const evidence = { a: evidenceIn(type, resultsOfA), b: evidenceIn(type, resultsOfB), lossRate };
  const [ofRecords, ofServers] = [rotationDoubts(...all), serverDoubts(...all)];
  const compared = new Map(
    pairs.map((pair) => {
      const { differences, ...draft } = compareProbe(type, ...pair, pairs.length, evidence);
      return [
        pair[0].probe,
        { ...draft, differences: differences.map((one) => ofServers(pair, ofRecords(pair, one))) },
      ];
    }),
  );
  const drafts = withoutNoise(compared);
  const measured = pairs.filter(([ofA, ofB]) => isMeasured(evidence.a(ofA)) && isMeasured(evidence.b(ofB))).length;
  const sides = { a: sideOf(a, b), b: sideOf(b, a) };
  const isOfSame = sides.a.probes.length + sides.b.probes.length === 0 && measured === pairs.length;
  const ofResults = sharedDifferences([], drafts).filter(({ subject }) => subject !== 'request');
  const isExplained =
    ofResults.some(({ certain }) => certain) || (isOfSame && ofResults.length === 0 && hasOtherFacts(a, b));
  const ofCheck = [
    ...(isSameHost(a.check.host, b.check.host)
      ? []
      : differentValue({ subject: 'request', name: 'host', label: 'host' }, a.check.host, b.check.host)),
    ...requestDifferences(type, a.check.request, b.check.request),
    ...verdictDifferences(sides, isExplained),
  ];
  const differences = sharedDifferences(ofCheck, drafts);
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
  return {
    differences: differences.map(({ chance: _chance, samples: _samples, isTentative: _isTentative, ...difference }) =>
      overFamily(difference),
    ),
    ...draft,
  };
}

/** @param measured number of probes that measured in both checks; if it is 0, nothing is known to be equal */
function resultOf(differences: readonly SharedDifference[], measured: number): Comparison['result'] {
  if (differences.some(({ certain }) => certain)) return 'different';
  return differences.length > 0 || measured === 0 ? 'unsure' : 'same';
}

/**
 * Difference of the verdicts; uncertain if one is `unknown`, which says nothing about the target.
 *
 * @param isExplained true if the results of a probe have a certain difference, or if all probes measured in both
 *   checks, no result differs, and one check has a finding that the other lacks (`hasOtherFacts`). Otherwise chance,
 *   other servers or other probes may explain the verdicts, and their difference is uncertain
 */
function verdictDifferences({ a, b }: Pick<Comparison, 'a' | 'b'>, isExplained: boolean): readonly Difference[] {
  const differences = differentValue({ subject: 'verdict', label: 'verdict' }, a.verdict, b.verdict);
  const isUnknown = [a.verdict, b.verdict].includes('unknown');
  return isUnknown || !isExplained ? differences.map(uncertainly) : differences;
}

/**
 * Codes of findings that depend neither on chance nor on measured times: one that only one check has explains another
 * verdict.
 */
const facts: ReadonlySet<FindingCode> = new Set([
  'certificate_browser_refused',
  'certificate_staple_bad',
  'dns_not_public',
  'http_browser_refused',
  'http_hsts_loop',
  'http_redirect_failed',
  'path_mtu_black_hole',
  'routing_loop',
  'tls_browser_refused',
  'tls_outdated',
]);

/**
 * True if all probes of one check have a finding of `facts` that no probe of the other check has. One of only some
 * probes does not count: it may concern one of several servers.
 */
function hasOtherFacts(a: ComparedCheck, b: ComparedCheck): boolean {
  const [ofA, ofB] = [factsOf(a), factsOf(b)];
  const isLone = (own: readonly Fact[], other: readonly Fact[]): boolean =>
    own.some(({ code, isOfAll }) => isOfAll && !other.some((one) => one.code === code));
  return isLone(ofA, ofB) || isLone(ofB, ofA);
}

interface Fact {
  readonly code: FindingCode;
  readonly isOfAll: boolean;
}

function factsOf({ check, summary }: ComparedCheck): readonly Fact[] {
  const count = Object.keys(check.results).length;
  return (summary.findings ?? [])
    .filter(({ code, severity }) => severity !== 'info' && facts.has(code))
    .map(({ code, probes }) => ({ code, isOfAll: probes.length === count }));
}

function sideOf({ check, summary }: ComparedCheck, other: ComparedCheck): Comparison['a'] {
  const { testId, host, createdAt, results } = check;
  const probes = Object.keys(results).filter((probe) => !Object.hasOwn(other.check.results, probe));
  return { checkId: testId, host, createdAt, verdict: summary.verdict, probes: probes.toSorted() };
}
