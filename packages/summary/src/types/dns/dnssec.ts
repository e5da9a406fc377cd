import { answerKindOf } from '../../dns-answer.ts';
import { causeOf } from '../../extended-errors.ts';
import { buildFinding, type FindingDraft } from '../../finding.ts';
import type { ProbeResult, SparseResultOf } from '../../probe-result.ts';
import { listed, naming, unique } from '../../words.ts';
import { resolversSay } from './resolvers-text.ts';

type DnsResult = ProbeResult<SparseResultOf<'dns'>>;

export function findDnssec(probeResults: readonly DnsResult[]): readonly FindingDraft[] {
  const of = (word: string): readonly DnsResult[] =>
    probeResults.filter(({ result }) => result.dnssec?.verdict === word);
  const [failed, validated, unvalidated] = [of('validation_failed'), of('validated'), of('not_validated')];
  const all: FindingDraft[] = [];
  if (failed.length > 0) {
    const isAll = validated.length + unvalidated.length === 0;
    const errors = unique(failed.flatMap(({ result }) => causeOf(result) ?? []));
    const answered = unvalidated.some(isAnswered) ? ' Resolvers that do not validate still answer.' : '';
    const text =
      `The answer fails the validation of DNSSEC${errors.length === 0 ? '' : ` (${listed(errors, 3)})`} for the ` +
      `${failed.length === 1 ? 'resolver' : 'resolvers'} of ${naming(failed)}. ${causes(failed, validated)}${answered}`;
    all.push(buildFinding('dnssec_failed', isAll ? 'critical' : 'warning', failed, text, 'DNSSEC fails'));
  }
  if (validated.length > 0 && unvalidated.length > 0) {
    const text = `${resolversSay(validated)} that ${validated.length === 1 ? 'it' : 'they'} validated the answer, ${unvalidated.length === 1 ? 'that' : 'those'} of ${naming(unvalidated)} ${unvalidated.length === 1 ? 'does' : 'do'} not.`;
    all.push(buildFinding('dnssec_differs', 'info', unvalidated, text));
  }
  return all;
}

function isAnswered({ result }: DnsResult): boolean {
  return ['answer', 'nodata', 'alias'].includes(answerKindOf(result) ?? '');
}

/** A cache keeps an answer that it validated before the signatures of the zone became wrong. */
function causes(failed: readonly DnsResult[], validated: readonly DnsResult[]): string {
  const isOne = failed.length === 1;
  if (validated.length === 0)
    return `Signatures, keys or times of the zone are wrong, or those that it was given${isOne ? ', or its clock' : ''}.`;
  const [it, has] = validated.length === 1 ? ['it', 'it has'] : ['they', 'they have'];
  const others = isOne
    ? 'the resolver that fails, or a name server that it asked,'
    : 'the resolvers that fail, or name servers that they asked,';
  return (
    `${resolversSay(validated)} that ${it} validated it: either ${has} an older answer in the cache, and ` +
    `signatures, keys or times of the zone are wrong now, or ${others} may be wrong.`
  );
}
