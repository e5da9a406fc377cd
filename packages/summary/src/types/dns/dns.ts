import type { SummaryGroup } from '@vantage/contract';
import type { AnswerKind } from '@vantage/diagnostics/contract';

import { buildFinding, type FindingDraft } from '../../finding.ts';
import { groupsOf } from '../../groups.ts';
import { reasonOf } from '../../reasons.ts';
import { groupBy, type ProbeResult, type SparseResultOf } from '../../probe-result.ts';
import type { Partition } from '../../partition.ts';
import { naming, safeText, safeDistinctTexts, tally } from '../../words.ts';
import { isValidated } from '../../disputed.ts';
import { dataOf, filterOf, isMade, answerKindOf, classifiedAnswer } from '../../dns-answer.ts';
import { dnsReason } from '../../dns-reason.ts';
import { isStale } from '../../extended-errors.ts';
import { findDnssec } from './dnssec.ts';
import { findNotPublic, isTranslated, isWithoutPublic } from './not-public.ts';
import { resolversSay } from './resolvers-text.ts';
import { findStale } from './stale.ts';

type DnsResult = ProbeResult<SparseResultOf<'dns'>>;

/** Types whose answers commonly depend on the client's location. */
const placedTypes: ReadonlySet<string> = new Set(['A', 'AAAA', 'CNAME', 'HTTPS', 'SVCB']);

/** Types whose records a name server may generate or sign for each answer. */
const madeTypes: ReadonlySet<string> = new Set(['RRSIG', 'NSEC', 'NSEC3']);

/** Comparable kinds of answers. */
type AnswerClass = 'answers' | 'empty' | 'nxdomain' | 'other';

const partition: Readonly<Partial<Record<AnswerKind, AnswerClass>>> = {
  answer: 'answers',
  nodata: 'empty',
  alias: 'empty',
  nxdomain: 'nxdomain',
  error: 'other',
};

/** Class of the answer, even in a failed result; undefined without one, or if its kind is not compared. */
function answerClassOf({ result }: DnsResult): AnswerClass | undefined {
  const kind = answerKindOf(result);
  return kind === undefined ? undefined : partition[kind];
}

function answersOf(probeResult: DnsResult): readonly string[] | undefined {
  const side = answerClassOf(probeResult);
  if (side === 'answers' || side === 'empty') return dataOf(probeResult.result);
  if (side === 'nxdomain') return ['NXDOMAIN'];
  if (side === 'other') return [probeResult.result.rcode ?? ''];
  return answerKindOf(probeResult.result) === undefined
    ? undefined
    : [dnsReason(probeResult.result) ?? 'no valid answer'];
}

/**
 * True if the records of this type usually differ between servers: by location, by rotation, or because they are
 * generated for each answer.
 */
export function isUsuallyDifferent(type: string): boolean {
  return placedTypes.has(type) || madeTypes.has(type);
}

export function groupAnswers(probeResults: readonly DnsResult[]): readonly SummaryGroup[] {
  return groupsOf('answers', probeResults, answersOf);
}

/** The `silent` probes have no evidence about the name, except `lone`, whose answer proves too little. */
export function findDns(
  probeResults: readonly DnsResult[],
  { silent, lone }: Pick<Partition, 'silent' | 'lone'>,
): readonly FindingDraft[] {
  const isSilent = (probeResult: DnsResult): boolean => silent.includes(probeResult);
  return [
    ...rcodes(probeResults.filter((probeResult) => !isSilent(probeResult))),
    ...filtered(probeResults),
    ...findNotPublic(probeResults),
    ...unanswered(probeResults, probeResults.filter(isSilent), lone),
    ...answers(probeResults),
    ...findStale(probeResults),
    ...findDnssec(probeResults),
  ];
}

function rcodes(telling: readonly DnsResult[]): readonly FindingDraft[] {
  const of = (side: AnswerClass): readonly DnsResult[] =>
    telling.filter((probeResult) => answerClassOf(probeResult) === side);
  const [full, empty, missing, other] = [of('answers'), of('empty'), of('nxdomain'), of('other')];
  const all: FindingDraft[] = [];
  const aliases = missing.filter(({ result }) => classifiedAnswer(result)?.canonicalName !== null);
  // An alias alone does not show whether its target name exists.
  const named = [...full, ...empty.filter(({ result }) => aliases.length === 0 || answerKindOf(result) !== 'alias')];
  // An expired answer says what the name was.
  const existing = named.filter(({ result }) => !isStale(result));
  if (missing.length > 0 && existing.length > 0) all.push(nxdomainSome(missing, aliases.length, existing));
  const ofName = full.filter((probeResult) => !isTranslated(probeResult));
  if (empty.length > 0 && ofName.length > 0) {
    const text = `${naming(empty)} got no records of this type, where ${naming(ofName)} got some.`;
    all.push(buildFinding('dns_empty_some', 'warning', empty, text, 'some get no records'));
  }
  if (
    new Set(other.map(({ result }) => result.rcode)).size > 1 ||
    (other.length > 0 && full.length + empty.length + missing.length > 0)
  ) {
    const told = telling.filter((probeResult) => answerClassOf(probeResult) !== undefined);
    const seen = tally(told, ({ result }) => safeText(result.rcode ?? '', 16));
    all.push(buildFinding('dns_rcode_differs', 'warning', told, `The answers have different rcodes: ${seen}.`));
  }
  return all;
}

function nxdomainSome(missing: readonly DnsResult[], aliases: number, existing: readonly DnsResult[]): FindingDraft {
  const ofAlias =
    aliases < missing.length ? 'The name, or that to which its aliases lead,' : 'The name that its aliases lead to';
  const what = aliases === 0 ? 'The name' : ofAlias;
  const proved = missing.filter(({ result }) => isValidated(result));
  const isProved = proved.length > 0 && !existing.some(({ result }) => isValidated(result));
  const other = isProved
    ? `. ${resolversSay(proved)} that ${proved.length === 1 ? 'it' : 'they'} validated that; ${naming(existing)} got another answer, which is not ` +
      'validated: a resolver may have made it, have it from before a change, or ask other name servers.'
    : `, and exists for ${naming(existing)}.`;
  const text = `${what} does not exist (NXDOMAIN) for ${naming(missing)}${other}`;
  return buildFinding('dns_nxdomain_some', 'warning', missing, text, 'the name does not exist for all');
}

/** Findings about filtered answers, one per explanation of the resolvers. */
function filtered(probeResults: readonly DnsResult[]): readonly FindingDraft[] {
  return groupBy(probeResults, ({ result }) => filterOf(result)).map(([error, alike]) => {
    const hasRecords = alike.some(({ result: { answers = [] } }) => answers.length > 0);
    const text = `${resolversSay(alike)} that a filter made the answer (${error}): ${
      hasRecords ? 'its records may not be those of the name.' : 'it says nothing about the name.'
    }`;
    return buildFinding('dns_filtered', 'warning', alike, text, 'a resolver filters the answer');
  });
}

/** One finding for each reason, and one for `lone`. */
function unanswered(
  probeResults: readonly DnsResult[],
  silent: readonly DnsResult[],
  lone: ProbeResult | undefined,
): readonly FindingDraft[] {
  const own = silent.filter((one) => one !== lone && answerKindOf(one.result) !== 'filtered');
  const severity = silent.length === probeResults.length ? 'warning' : 'info';
  const found = groupBy(own, reasonOf).map(([reason, alike]) => {
    const text = `Nothing was learned about the name by ${naming(alike)}: ${reason}.`;
    return buildFinding('dns_unanswered', severity, alike, text);
  });
  if (lone === undefined) return found;
  const text = `Only the resolver of ${lone.probe} says something about the name: ${reasonOf(lone)}. As ${silent.length - 1} others say nothing about it${silent.some(({ result }) => isMade(result)) ? ' that counts' : ''}, that proves too little.`;
  return [...found, buildFinding('dns_unanswered', 'warning', [lone], text)];
}

function answers(probeResults: readonly DnsResult[]): readonly FindingDraft[] {
  // A truncated answer is incomplete.
  const whole = probeResults.filter(
    (probeResult) => answerClassOf(probeResult) === 'answers' && probeResult.result.truncated !== true,
  );
  // Expired answers and those without public addresses differ for another reason, which has its own finding.
  const usual = whole.filter((one) => !isStale(one.result) && !isWithoutPublic(one));
  const compared = usual.length === 0 ? whole : usual;
  const groups = groupBy(compared, (probeResult) => JSON.stringify(answersOf(probeResult)));
  if (groups.length < 2) return [];
  const type = compared[0]!.result.recordType ?? '';
  const textOf = (probeResult: DnsResult): string => answersOf(probeResult)!.join(' | ');
  const textShown = safeDistinctTexts(compared.map(textOf));
  const seen = tally(compared, (probeResult) => textShown(textOf(probeResult)));
  const text = `There are ${groups.length} different sets of records: ${seen}. ${whyDifferent(type, compared[0]!.result.trace !== undefined)}`;
  return [buildFinding('dns_answers_differ', isUsuallyDifferent(type) ? 'info' : 'warning', compared, text)];
}

function whyDifferent(type: string, isTrace: boolean): string {
  if (placedTypes.has(type)) return 'That is usual where answers go by place or take turns.';
  if (madeTypes.has(type)) return 'That is usual where name servers sign their answers on the fly.';
  return (
    'Records of this type are the same everywhere as a rule, unless a server makes them up for each client: ' +
    `${isTrace ? '' : 'resolvers may still have those before a change, '}name servers may be out of step, or one of them may be wrong.`
  );
}
