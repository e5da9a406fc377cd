import type { Difference, Family } from '@vantage/contract';

import { isUnmeasured } from './compare/fields/common.ts';
import { measuredDifferences, weighedByFlows } from './compare/fields/of-type.ts';
import { buildFinding, severityByShare, type FindingDraft } from './finding.ts';
import { findFamilyPaths } from './family-paths.ts';
import { measurementsOf } from './measurements.ts';
import type { ProbeResult, SparseResultOf } from './probe-result.ts';
import { reasonsOf } from './reasons.ts';
import { families, findSlower, probesIn, type Pair } from './slower-family.ts';
import { isUsuallyDifferent } from './types/dns.ts';
import { listed, naming, unique } from './words.ts';

type WithOther = SparseResultOf<'ping'>;

/** Findings of a check over both families: what differs between IPv4 and IPv6. */
export function findFamilies(type: string, probeResults: readonly ProbeResult[]): readonly FindingDraft[] {
  const pairs = probeResults.flatMap(pairOf);
  if (pairs.length === 0) return [];
  return [
    ...findBroken(pairs),
    ...findAbsent(type, pairs),
    // A broken family explains any other difference.
    ...findDifferences(type, pairs.filter(isAlike)),
    ...(type === 'traceroute' ? findFamilyPaths(pairs.filter(isMeasured)) : []),
    ...findOlder(probeResults),
  ];
}

function pairOf(probeResult: ProbeResult): readonly Pair[] {
  const of = measurementsOf(probeResult);
  return of === undefined ? [] : [{ probe: probeResult.probe, of }];
}

const isMeasured = ({ of }: Pair): boolean => families.every((family) => isTold(of[family]));

/** True if both are measured and have the same outcome. */
const isAlike = (pair: Pair): boolean => isMeasured(pair) && pair.of[4].outcome === pair.of[6].outcome;

/** True if the result is evidence about the target. */
function isTold(probeResult: ProbeResult): boolean {
  return !isUnmeasured(probeResult) && !isAbsent(probeResult);
}

/** Codes of a failure because the name has no address of the family, or the probe no connectivity in it. */
export const ABSENT_FAMILY: ReadonlySet<string | undefined> = new Set(['dns_no_address', 'family_unavailable']);

function isAbsent({ result }: ProbeResult): boolean {
  return ABSENT_FAMILY.has(result.error?.code);
}

function findBroken(pairs: readonly Pair[]): readonly FindingDraft[] {
  return families.flatMap((family) => {
    const broken = pairs.filter(
      ({ of }) => of[otherOf(family)].outcome === 'success' && of[family].outcome !== 'success' && isTold(of[family]),
    );
    if (broken.length === 0) return [];
    const measured = pairs.filter(isMeasured).length;
    const reasons = reasonsOf(broken.map(({ of }) => of[family]));
    const isAgreed = broken.length === measured && areOfTwoNetworks(broken.map(({ of }) => of[family]));
    const isKnownToWork = pairs.some(({ of }) => of[family].outcome === 'success');
    const doubt =
      isAgreed || isKnownToWork
        ? ''
        : ` No probe of another network measured IPv${family}: if that of the probe does not work, it looks the same.`;
    const text = `IPv${family} fails from ${naming(broken)}: ${reasons}; IPv${otherOf(family)} works there.${doubt}`;
    const brief = isAgreed ? `IPv${family} fails` : `IPv${family} fails from ${naming(broken)}`;
    return [buildFinding('family_broken', 'warning', broken, text, brief)];
  });
}

/**
 * True if the probes are known to be in two networks: a fault of one network explains the failures of its own probes
 * only.
 */
function areOfTwoNetworks(probeResults: readonly ProbeResult[]): boolean {
  return new Set(probeResults.flatMap(({ facts }) => facts?.asNumber ?? [])).size >= 2;
}

function findAbsent(type: string, pairs: readonly Pair[]): readonly FindingDraft[] {
  return families.flatMap((family) => {
    const without = (code: string): readonly Pair[] => pairs.filter(({ of }) => of[family].result.error?.code === code);
    const [nameless, unconnected] = [without('dns_no_address'), without('family_unavailable')];
    const failed = pairs.filter(
      ({ of }) => isUnmeasured(of[family]) && !isAbsent(of[family]) && isTold(of[otherOf(family)]),
    );
    const texts = [
      ...(nameless.length > 0 ? [`the name has no IPv${family} address`] : []),
      ...absentTexts(type, family, unconnected),
      ...(failed.length > 0
        ? [`${naming(failed)} could not measure IPv${family} (${reasonsOf(failed.map(({ of }) => of[family]))})`]
        : []),
    ];
    if (texts.length === 0) return [];
    const text = `Only IPv${otherOf(family)} was measured where ${listed(texts)}.`;
    return [buildFinding('family_absent', 'info', [...nameless, ...unconnected, ...failed], text)];
  });
}

/** Reasons why probes lack a family, which for dns is that of the servers that are asked. */
function absentTexts(type: string, family: Family, pairs: readonly Pair[]): readonly string[] {
  const isOfServer = ({ of }: Pair): boolean => type === 'dns' && of[family].result.error?.source === 'resolver';
  const isTrace = ({ of }: Pair): boolean => (of[family].result as SparseResultOf<'dns'>).trace !== undefined;
  const [servers, own] = [pairs.filter(isOfServer), pairs.filter((pair) => !isOfServer(pair))];
  const [zones, resolvers] = [servers.filter(isTrace), servers.filter((pair) => !isTrace(pair))];
  return [
    ...(zones.length > 0 ? [`no name server of a zone has an IPv${family} address`] : []),
    ...(resolvers.length > 0 ? [`the resolver of ${naming(resolvers)} has no IPv${family} address`] : []),
    ...(own.length > 0 ? [`${naming(own)} can not use IPv${family}`] : []),
  ];
}

/** Finding: times and answers that differ between the families, by the rules of the comparison of two checks. */
function findDifferences(type: string, pairs: readonly Pair[]): readonly FindingDraft[] {
  const seen = pairs.flatMap((pair) =>
    measuredDifferences(type, pair.of[4], pair.of[6])
      .filter(({ subject }) => subject !== 'addresses')
      .map((difference) => ({ pair, difference: weighedByFlows(type, pair.of[4], pair.of[6], difference) })),
  );
  const slower = findSlower(pairs, seen);
  const answers = seen.filter(({ difference }) => difference.amounts === undefined);
  if (answers.length === 0) return slower;
  const probes = probesIn(answers);
  const texts = unique(answers.map(({ difference }) => difference.text));
  const text = `IPv4 → IPv6: ${listed(texts, 3)}, from ${naming(probes)}.`;
  const isUsual = answers.every(({ pair, difference }) => isUsualFor(type, pair, difference));
  const severity = isUsual ? 'info' : severityByShare(probes.length, pairs.length);
  return [...slower, buildFinding('family_answers_differ', severity, probes, text)];
}

/** True for a difference of records that two queries to one resolver often show, too. */
function isUsualFor(type: string, { of }: Pair, { subject, name }: Difference): boolean {
  const { recordType = '' } = of[4].result as SparseResultOf<'dns'>;
  return type === 'dns' && subject === 'answers' && name === null && isUsuallyDifferent(recordType);
}

function findOlder(probeResults: readonly ProbeResult[]): readonly FindingDraft[] {
  const older = probeResults.filter(
    (probeResult) => !isUnmeasured(probeResult) && (probeResult.result as WithOther).otherFamily === undefined,
  );
  if (older.length === 0) return [];
  const text = `The agents of an earlier release do not measure both families and used one: ${naming(older)}.`;
  return [buildFinding('probes_older', 'info', older, text)];
}

function otherOf(family: Family): Family {
  return family === 4 ? 6 : 4;
}
