import type { Difference, Family } from '@vantage/contract';

import { isUnmeasured } from './compare/fields/common.ts';
import { measuredDifferences, weighedByFlows } from './compare/fields/of-type.ts';
import { rotationDoubts } from './compare/rotation.ts';
import { isUnanswered } from './dns-answer.ts';
import { areAlike, isAbsent, isHeard, toldOver, works, type IsTold } from './told.ts';
import { buildFinding, severityByShare, type FindingDraft } from './finding.ts';
import { findFamilyPaths } from './family-paths.ts';
import { measuredPart } from './measured-host.ts';
import { measurementsOf } from './measurements.ts';
import { partitionByOutcome } from './partition.ts';
import { payloadText } from './payload-text.ts';
import { ofType, type ProbeResult, type SparseResultOf } from './probe-result.ts';
import { reasonsOf } from './reasons.ts';
import { redirectedHost } from './redirected.ts';
import { families, findSlower, probesIn, type Pair } from './slower-family.ts';
import { isUsuallyDifferent } from './types/dns/dns.ts';
import { listed, naming, unique } from './words.ts';

type WithOther = SparseResultOf<'ping'>;

/** Findings of a check over both families: failures, absence and differences of one family. */
export function findFamilies(type: string, probeResults: readonly ProbeResult[]): readonly FindingDraft[] {
  const pairs = probeResults.flatMap(pairOf);
  if (pairs.length === 0) return [];
  const isOver = toldOver(
    type,
    families.map((family) => measuredOver(family, pairs)),
  );
  const isMeasured = ({ of }: Pair): boolean => families.every((family) => isOver(of[family]));
  return [
    ...findBroken(type, pairs, isOver),
    ...findAbsent(type, pairs, isOver),
    // A broken family explains any other difference.
    ...findDifferences(
      type,
      pairs.filter((pair) => isMeasured(pair) && areAlike(pair.of[4], pair.of[6])),
    ),
    ...(type === 'traceroute' ? findFamilyPaths(pairs.filter(isMeasured)) : []),
    ...findOlder(probeResults),
  ];
}

function pairOf(probeResult: ProbeResult): readonly Pair[] {
  const of = measurementsOf(probeResult);
  return of === undefined ? [] : [{ probe: probeResult.probe, of }];
}

function findBroken(type: string, pairs: readonly Pair[], isOver: IsTold): readonly FindingDraft[] {
  return families.flatMap((family) => {
    const isFailing = failsOver(type, family, pairs, isOver);
    const broken = pairs.filter(({ of }) => works(of[otherOf(family)]) && isFailing(of[family]));
    if (broken.length === 0) return [];
    const measured = pairs.filter(({ of }) => families.every((one) => isOver(of[one]))).length;
    const reasons = reasonsOf(measuredOver(family, broken));
    const isAgreed = broken.length === measured && areOfTwoNetworks(measuredOver(family, broken));
    const isKnownToWork = pairs.some(({ of }) => works(of[family])) || measuredOver(family, broken).every(isHeard);
    const doubt =
      isAgreed || isKnownToWork
        ? ''
        : ` No probe of another network measured IPv${family}: if that of the probe does not work, it looks the same.`;
    const part = measuredPart(type, measuredOver(family, broken));
    const fails = isOfResolver(type, measuredOver(family, broken))
      ? `the resolver does not answer over IPv${family}`
      : `IPv${family}${part} fails${sizeText(type, measuredOver(family, broken))}`;
    const text = `${fails.replace(/^the/, 'The')} from ${naming(broken)}: ${reasons}; IPv${otherOf(family)} works there.${doubt}`;
    const brief = isAgreed ? fails : `${fails} from ${naming(broken)}`;
    return [buildFinding('family_broken', 'warning', broken, text, brief)];
  });
}

/**
 * For a ping or a trace, the summary of this family alone decides, since a result without success may show a target
 * that is up, or prove nothing. For other types, every measured result fails that is neither a success nor an answer.
 */
function failsOver(type: string, family: Family, pairs: readonly Pair[], isOver: IsTold): IsTold {
  if (type !== 'ping' && type !== 'traceroute') return (one) => !works(one) && isOver(one);
  const { down } = partitionByOutcome(type, measuredOver(family, pairs));
  return (one) => down.includes(one) && isOver(one);
}

/** True if the resolver of a dns check says nothing about the name over a family: it is silent, or refuses. */
function isOfResolver(type: string, broken: readonly ProbeResult[]): boolean {
  return (
    type === 'dns' && ofType<'dns'>(broken).every(({ result }) => result.trace === undefined && isUnanswered(result))
  );
}

/**
 * The size of the packets as text, because smaller ones may get through: ` with pings of 1400 bytes of payload`, or `
 * with packets of 1400 bytes` of a trace. Empty for pings of the default payload or less, and without a requested size.
 */
function sizeText(type: string, broken: readonly ProbeResult[]): string {
  const payload = type === 'ping' ? payloadText(broken) : '';
  if (payload !== '') return ` with pings${payload}`;
  const [size] = ofType<'traceroute'>(broken).map(({ result }) => result.size);
  return type === 'traceroute' && size !== undefined ? ` with packets of ${size} bytes` : '';
}

/**
 * True if the probes are known to be in two or more networks: a fault of one network explains the failures of its own
 * probes only.
 */
function areOfTwoNetworks(probeResults: readonly ProbeResult[]): boolean {
  return new Set(probeResults.flatMap(({ facts }) => facts?.asNumber ?? [])).size >= 2;
}

function findAbsent(type: string, pairs: readonly Pair[], isOver: IsTold): readonly FindingDraft[] {
  return families.flatMap((family) => {
    const without = (code: string): readonly Pair[] => pairs.filter(({ of }) => of[family].result.error?.code === code);
    const [nameless, unconnected] = [without('dns_no_address'), without('family_unavailable')];
    const failed = pairs.filter(
      ({ of }) => !isOver(of[family]) && !isAbsent(of[family]) && isOver(of[otherOf(family)]),
    );
    const isElsewhere = ({ of }: Pair): boolean => redirectedHost(of[family].result) !== undefined;
    const [elsewhere, own] = [nameless.filter(isElsewhere), nameless.filter((pair) => !isElsewhere(pair))];
    const isNamed = pairs.some(({ of }) => typeof of[family].result.resolvedIp === 'string');
    const noAddress = isNamed
      ? `${naming(own)} found no IPv${family} address of the name, which others found`
      : `the name has no IPv${family} address`;
    const texts = [
      ...(own.length > 0 ? [noAddress] : []),
      ...(elsewhere.length > 0 ? [reasonsOf(measuredOver(family, elsewhere))] : []),
      ...absentTexts(type, family, unconnected),
      ...(failed.length > 0
        ? [`${naming(failed)} could not measure IPv${family} (${reasonsOf(measuredOver(family, failed))})`]
        : []),
    ];
    if (texts.length === 0) return [];
    const text = `Only IPv${otherOf(family)} was measured where ${listed(texts)}.`;
    return [buildFinding('family_absent', 'info', [...nameless, ...unconnected, ...failed], text)];
  });
}

/** Reasons why a family is absent: the probe has no connectivity in it or, for dns, the queried server no address. */
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

/**
 * Findings: times and answers that differ between the families, by the rules of the comparison of two checks. Excludes
 * addresses, and the time of the resolution, whose queries always use the family of the resolver.
 */
function findDifferences(type: string, pairs: readonly Pair[]): readonly FindingDraft[] {
  const seen = pairs.flatMap((pair) =>
    measuredDifferences(type, pair.of[4], pair.of[6])
      .filter(({ subject, name }) => subject !== 'addresses' && !(subject === 'phase' && name === 'dns'))
      .map((difference) => ({ pair, difference: weighedByFlows(type, pair.of[4], pair.of[6], difference) })),
  );
  const slower = findSlower(pairs, seen);
  const doubted = rotationDoubts(measuredOver(4, pairs), measuredOver(6, pairs), 'over the other family');
  const answers = seen
    .filter(({ difference }) => difference.amounts === undefined)
    .map(({ pair, difference }) => ({ pair, difference: doubted([pair.of[4], pair.of[6]], difference) }));
  if (answers.length === 0) return slower;
  const probes = probesIn(answers);
  const texts = unique(answers.map(({ difference }) => difference.text));
  const text = `IPv4 → IPv6: ${listed(texts, 3)}, from ${naming(probes)}.`;
  const unusual = answers.filter(({ pair, difference }) => difference.certain && !isUsualFor(type, pair, difference));
  const isOneFailure = unusual.some(({ pair }) => pair.of[4].outcome !== pair.of[6].outcome);
  const severity = isOneFailure ? 'warning' : severityByShare(probesIn(unusual).length, pairs.length);
  const brief = 'IPv4 and IPv6 answer differently';
  return [...slower, buildFinding('family_answers_differ', severity, probes, text, brief)];
}

function measuredOver(family: Family, pairs: readonly Pair[]): readonly ProbeResult[] {
  return pairs.map(({ of }) => of[family]);
}

/** True for a difference of records that two queries to the same resolver often have. */
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
