import type { SummaryGroup } from '@vantage/contract';
import type { AnswerKind } from '@vantage/diagnostics/contract';

import { found, type Found } from '../finding.ts';
import { groupsOf } from '../groups.ts';
import { reasonOf } from '../reasons.ts';
import { groupBy, type Report, type ResultOf } from '../report.ts';
import { naming, shown, tally } from '../words.ts';
import { dataOf, dnsReason, filterOf, isUnanswered, kindOf, readAnswer } from '../dns-answer.ts';

type DnsReport = Report<ResultOf<'dns'>>;

/** Types whose answers commonly depend on the client's location. */
const placedTypes: ReadonlySet<string> = new Set(['A', 'AAAA', 'CNAME', 'HTTPS', 'SVCB']);

/** Types that a name server may generate per answer: signatures, and records signed on the fly. */
const madeTypes: ReadonlySet<string> = new Set(['RRSIG', 'NSEC', 'NSEC3']);

/** Comparable kinds of answers. */
type Side = 'answers' | 'empty' | 'nxdomain' | 'other';

const sides: Readonly<Partial<Record<AnswerKind, Side>>> = {
  answer: 'answers',
  nodata: 'empty',
  alias: 'empty',
  nxdomain: 'nxdomain',
  error: 'other',
};

/** Kind of the answer, even in a failed result; undefined without conclusive content. */
function sideOf({ result }: DnsReport): Side | undefined {
  const kind = kindOf(result);
  return kind === undefined ? undefined : sides[kind];
}

function answersOf(report: DnsReport): readonly string[] | undefined {
  const side = sideOf(report);
  if (side === 'answers' || side === 'empty') return dataOf(report.result);
  if (side === 'nxdomain') return ['NXDOMAIN'];
  if (side === 'other') return [report.result.rcode ?? ''];
  return kindOf(report.result) === undefined ? undefined : [dnsReason(report.result) ?? 'no valid answer'];
}

export function groupAnswers(reports: readonly DnsReport[]): readonly SummaryGroup[] {
  return groupsOf('answers', reports, answersOf);
}

export function findDns(reports: readonly DnsReport[]): readonly Found[] {
  return [...rcodes(reports), ...filtered(reports), ...unanswered(reports), ...answers(reports), ...dnssec(reports)];
}

function rcodes(reports: readonly DnsReport[]): readonly Found[] {
  const telling = reports.filter(({ result }) => !isUnanswered(result));
  const of = (side: Side): readonly DnsReport[] => telling.filter((report) => sideOf(report) === side);
  const [full, empty, missing, other] = [of('answers'), of('empty'), of('nxdomain'), of('other')];
  const all: Found[] = [];
  if (missing.length > 0 && full.length + empty.length > 0) {
    const isAlias = missing.every(({ result }) => readAnswer(result)?.canonicalName !== null);
    const what = isAlias ? 'The name that its aliases lead to' : 'The name';
    const text = `${what} does not exist (NXDOMAIN) for ${naming(missing)}, and exists for ${naming([...full, ...empty])}.`;
    all.push(found('dns_nxdomain_some', 'warning', missing, text, 'the name does not exist for all'));
  }
  if (empty.length > 0 && full.length > 0) {
    const text = `${naming(empty)} got no records of this type, where ${naming(full)} got some.`;
    all.push(found('dns_empty_some', 'warning', empty, text, 'some get no records'));
  }
  if (
    new Set(other.map(({ result }) => result.rcode)).size > 1 ||
    (other.length > 0 && full.length + empty.length + missing.length > 0)
  ) {
    const told = telling.filter((report) => sideOf(report) !== undefined);
    const seen = tally(told, ({ result }) => shown(result.rcode ?? '', 16));
    all.push(found('dns_rcode_differs', 'warning', told, `The answers have different rcodes: ${seen}.`));
  }
  return all;
}

/** Grouped by the resolvers' explanation; a filtered answer is no evidence about the name. */
function filtered(reports: readonly DnsReport[]): readonly Found[] {
  return groupBy(reports, ({ result }) => filterOf(result)).map(([error, alike]) => {
    const isMade = alike.some(({ result }) => kindOf(result) === 'answer');
    const whose = alike.length === 1 ? 'The resolver' : 'The resolvers';
    const text = `${whose} of ${naming(alike)} ${alike.length === 1 ? 'says' : 'say'} that a filter made the answer (${error}): ${
      isMade ? 'its records may not be those of the name.' : 'it says nothing about the name.'
    }`;
    return found('dns_filtered', 'warning', alike, text, 'a resolver filters the answer');
  });
}

/** Grouped by reason: a shared resolver fails all its probes for the same one. */
function unanswered(reports: readonly DnsReport[]): readonly Found[] {
  const own = reports.filter(({ result }) => isUnanswered(result) && kindOf(result) !== 'filtered');
  const severity = reports.every(({ result }) => isUnanswered(result)) ? 'warning' : 'info';
  return groupBy(own, reasonOf).map(([reason, alike]) => {
    const text = `Nothing was learned about the name by ${naming(alike)}: ${reason}.`;
    return found('dns_unanswered', severity, alike, text);
  });
}

function answers(reports: readonly DnsReport[]): readonly Found[] {
  // A truncated answer is incomplete.
  const whole = reports.filter((report) => sideOf(report) === 'answers' && report.result.truncated !== true);
  const groups = groupBy(whole, (report) => JSON.stringify(answersOf(report)));
  if (groups.length < 2) return [];
  const type = whole[0]!.result.recordType ?? '';
  const isUsual = placedTypes.has(type) || madeTypes.has(type);
  const seen = tally(whole, (report) => shown(answersOf(report)!.join(' | '), 80));
  const text = `There are ${groups.length} different answers: ${seen}. ${whyDifferent(type)}`;
  return [found('dns_answers_differ', isUsual ? 'info' : 'warning', whole, text)];
}

function whyDifferent(type: string): string {
  if (placedTypes.has(type)) return 'That is usual where answers go by place or take turns.';
  if (madeTypes.has(type)) return 'That is usual where name servers sign their answers on the fly.';
  return (
    'Records of this type are the same everywhere as a rule, unless a server makes them up for whoever asks: name ' +
    'servers may be out of step, or one of them may be wrong.'
  );
}

function dnssec(reports: readonly DnsReport[]): readonly Found[] {
  const of = (word: string): readonly DnsReport[] => reports.filter(({ result }) => result.dnssec?.verdict === word);
  const [failed, validated, unvalidated] = [of('validation_failed'), of('validated'), of('not_validated')];
  const all: Found[] = [];
  if (failed.length > 0) {
    const isAll = validated.length + unvalidated.length === 0;
    const isAnswered = unvalidated.some((report) => ['answers', 'empty'].includes(sideOf(report) ?? ''));
    const cause =
      validated.length === 0
        ? 'Signatures, keys or times of the zone are wrong, or those that it was given.'
        : `The resolvers of ${naming(validated)} say that they validated it: the resolver that fails, or the name server that it asked, may be wrong.`;
    const text = `The answer fails the validation of DNSSEC for the ${failed.length === 1 ? 'resolver' : 'resolvers'} of ${naming(failed)}. ${cause}${
      isAnswered ? ' Resolvers that do not validate still answer.' : ''
    }`;
    all.push(found('dnssec_failed', isAll ? 'critical' : 'warning', failed, text, 'DNSSEC fails'));
  }
  if (validated.length > 0 && unvalidated.length > 0) {
    const text = `The resolvers of ${naming(validated)} say that they validated the answer, those of ${naming(unvalidated)} do not.`;
    all.push(found('dnssec_differs', 'info', unvalidated, text));
  }
  return all;
}
