import { answerKindOf } from '../../dns-answer.ts';
import { isStale, staleText } from '../../extended-errors.ts';
import { buildFinding, type FindingDraft } from '../../finding.ts';
import type { ProbeResult, SparseResultOf } from '../../probe-result.ts';
import { countOf, listed, naming, unique } from '../../words.ts';
import { resolversOf } from './resolvers-text.ts';

type DnsResult = ProbeResult<SparseResultOf<'dns'>>;

/** Finding: answers that have expired, which their resolvers could not refresh (RFC 8767). */
export function findStale(probeResults: readonly DnsResult[]): readonly FindingDraft[] {
  const own = probeResults.filter(({ result }) => isStale(result));
  if (own.length === 0) return [];
  const others = probeResults.filter(({ result }) => !isStale(result) && isKnown(result)).length;
  const errors = listed(unique(own.flatMap(({ result }) => staleText(result) ?? [])));
  const isOne = own.length === 1;
  const [gives, could] = isOne ? ['gives', 'It could'] : ['give', 'They could'];
  const rest =
    others === 0 ? '' : ` ${others === 1 ? 'One other has' : `${others} others have`} an answer that has not expired.`;
  const text =
    `${resolversOf(own)} ${gives} an answer that has expired (${errors}). ${could} not refresh it: ` +
    `name servers of the zone do not answer, fail or are slow, or cannot be reached from there.${rest}`;
  const whose = others === 0 ? '' : ` for ${isOne ? naming(own) : countOf(own.length, 'probe')}`;
  const brief = `the answer has expired${whose}, and could not be refreshed`;
  return [buildFinding('dns_stale', 'warning', own, text, brief)];
}

/** True for an answer about the name: records, or that there are none. */
function isKnown(result: SparseResultOf<'dns'>): boolean {
  return ['answer', 'alias', 'nodata', 'nxdomain'].includes(answerKindOf(result) ?? '');
}
