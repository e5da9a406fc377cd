import type { AnswerKind } from '@vantage/diagnostics/contract';

import { answerKindOf, classifiedAnswer, dataOf } from '../../dns-answer.ts';
import { isStale } from '../../extended-errors.ts';
import type { SparseResultOf } from '../../probe-result.ts';
import { differentSet, differentValue, type DifferenceDraft } from '../difference.ts';
import { timeDifference } from './http.ts';

/**
 * Kinds of answers whose records are not compared, because they neither contain records of the name nor deny them.
 * Undefined stands for a result without an answer.
 */
const recordless: ReadonlySet<AnswerKind | undefined> = new Set([
  'error',
  'filtered',
  'referral',
  'lame',
  'malformed',
  undefined,
]);

export function dnsDifferences(a: SparseResultOf<'dns'>, b: SparseResultOf<'dns'>): readonly DifferenceDraft[] {
  if (a.rcode === undefined || b.rcode === undefined || a.recordType !== b.recordType) return [];
  const kind = { subject: 'answers', label: 'answer' } as const;
  const codes = differentValue({ ...kind, name: 'rcode' }, a.rcode, b.rcode);
  const kinds = differentValue({ ...kind, name: 'answerKind' }, answerKindOf(a), answerKindOf(b));
  const isCertain = [a, b].every((one) => one.truncated !== true && !isStale(one));
  const ages = differentValue({ ...kind, name: 'stale' }, ageOf(a), ageOf(b));
  // A server that fails or refuses does not deny records.
  const isToldOf = [a, b].every((one) => !recordless.has(answerKindOf(one)));
  const records = isToldOf
    ? [
        ...differentValue({ ...kind, name: 'canonicalName', label: 'alias' }, aliasOf(a), aliasOf(b)),
        ...differentSet({ subject: 'answers', label: 'records' }, dataOf(a), dataOf(b)),
      ].map((difference) => ({ ...difference, certain: isCertain }))
    : [];
  const what = codes.length > 0 ? codes : kinds;
  const validation = differentValue({ ...kind, name: 'dnssec', label: 'DNSSEC' }, validationOf(a), validationOf(b));
  const query = timeDifference('query', 'query', a.timings?.query, b.timings?.query);
  return [...what, ...ages, ...records, ...validation, ...query];
}

/** Undefined for a result without an answer about the name. */
function ageOf(result: SparseResultOf<'dns'>): string | undefined {
  if (recordless.has(answerKindOf(result))) return undefined;
  return isStale(result) ? 'expired' : 'not expired';
}

/** The name at the end of the aliases, in lower case; null without aliases, undefined without an answer. */
export function aliasOf(result: SparseResultOf<'dns'>): string | null | undefined {
  if (result.rcode === undefined) return undefined;
  return classifiedAnswer(result)?.canonicalName?.toLowerCase() ?? null;
}

function validationOf({ dnssec }: SparseResultOf<'dns'>): string | undefined {
  const verdict = dnssec?.verdict;
  return verdict === 'unknown' ? undefined : verdict?.replace('_', ' ');
}
