import type { SummaryGroup } from '@vantage/contract';

import { found, type Found } from '../finding.ts';
import { groupsOf } from '../groups.ts';
import { groupBy, type Report, type ResultOf } from '../report.ts';
import { naming, shown, tally, unique } from '../words.ts';

type DnsReport = Report<ResultOf<'dns'>>;

/** Types whose answers go by place as a matter of course. */
const placedTypes: ReadonlySet<string> = new Set(['A', 'AAAA', 'CNAME', 'HTTPS', 'SVCB']);

/** Types whose data is a name, in which case is of no account (RFC 4343). */
const nameTypes: ReadonlySet<string> = new Set(['CNAME', 'DNAME', 'MX', 'NS', 'PTR', 'SOA', 'SRV']);

type Kind = 'answers' | 'empty' | 'nxdomain' | 'other';

/** What came back, whoever counts it a failure; undefined where nothing did. */
function kindOf({ result }: DnsReport): Kind | undefined {
  const { rcode } = result;
  if (rcode === undefined) return result.error?.code === 'dns_nxdomain' ? 'nxdomain' : undefined;
  if (rcode === 'NXDOMAIN') return 'nxdomain';
  if (rcode !== 'NOERROR') return 'other';
  return hasRecords(result) ? 'answers' : 'empty';
}

/** Whether there are records of the type that was asked for: an alias alone (CNAME) leads to none. */
export function hasRecords({ answers = [], recordType }: ResultOf<'dns'>): boolean {
  return answers.some(({ type }) => type === recordType);
}

/** The set of the answers: without order, TTLs and signatures; what leads to them by an alias is left out. */
function dataOf({ answers = [], recordType }: ResultOf<'dns'>): readonly string[] {
  const records = answers.filter(({ type }) => type !== 'RRSIG' || recordType === 'RRSIG');
  const asked = records.filter(({ type }) => type === recordType);
  const lines = (asked.length > 0 ? asked : records).map(({ type, data }) => {
    const text = nameTypes.has(type) ? data.toLowerCase() : data;
    return type === recordType ? text : `${type} ${text}`;
  });
  return unique(lines);
}

function answersOf(report: DnsReport): readonly string[] | undefined {
  const kind = kindOf(report);
  if (kind === undefined) return undefined;
  if (kind === 'answers' || kind === 'empty') return dataOf(report.result);
  return [kind === 'nxdomain' ? 'NXDOMAIN' : (report.result.rcode ?? '')];
}

export function groupAnswers(reports: readonly DnsReport[]): readonly SummaryGroup[] {
  return groupsOf('answers', reports, answersOf);
}

export function findDns(reports: readonly DnsReport[]): readonly Found[] {
  return [...rcodes(reports), ...answers(reports), ...dnssec(reports)];
}

function rcodes(reports: readonly DnsReport[]): readonly Found[] {
  const of = (kind: Kind): readonly DnsReport[] => reports.filter((report) => kindOf(report) === kind);
  const [full, empty, missing, other] = [of('answers'), of('empty'), of('nxdomain'), of('other')];
  const all: Found[] = [];
  if (missing.length > 0 && full.length + empty.length > 0) {
    const text = `The name does not exist (NXDOMAIN) for ${naming(missing)}, and exists for ${naming([...full, ...empty])}.`;
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
    const told = reports.filter((report) => kindOf(report) !== undefined);
    const seen = tally(told, ({ result }) => shown(result.rcode ?? 'NXDOMAIN', 16));
    all.push(found('dns_rcode_differs', 'warning', told, `The answers have different rcodes: ${seen}.`));
  }
  return all;
}

function answers(reports: readonly DnsReport[]): readonly Found[] {
  // Of an answer that was cut the rest is not known.
  const whole = reports.filter((report) => kindOf(report) === 'answers' && report.result.truncated !== true);
  const groups = groupBy(whole, (report) => JSON.stringify(answersOf(report)));
  if (groups.length < 2) return [];
  const type = whole[0]!.result.recordType ?? '';
  const isPlaced = placedTypes.has(type);
  const seen = tally(whole, (report) => shown(answersOf(report)!.join(' | '), 80));
  const why = isPlaced
    ? 'That is usual where answers go by place or take turns.'
    : 'Records of this type should be the same everywhere: name servers may be out of step, or one of them is wrong.';
  const text = `There are ${groups.length} different answers: ${seen}. ${why}`;
  return [found('dns_answers_differ', isPlaced ? 'info' : 'warning', whole, text)];
}

function dnssec(reports: readonly DnsReport[]): readonly Found[] {
  const of = (word: string): readonly DnsReport[] => reports.filter(({ result }) => result.dnssec?.verdict === word);
  const [failed, validated, unvalidated] = [of('validation_failed'), of('validated'), of('not_validated')];
  const all: Found[] = [];
  if (failed.length > 0) {
    const isAll = validated.length + unvalidated.length === 0;
    const isAnswered = unvalidated.some((report) => ['answers', 'empty'].includes(kindOf(report) ?? ''));
    const text = `The answer fails the validation of DNSSEC for the ${failed.length === 1 ? 'resolver' : 'resolvers'} of ${naming(failed)}: signatures, keys or times of the zone are wrong.${
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
