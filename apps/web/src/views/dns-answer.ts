import { codeWords } from '../check/columns.ts';
import type { FieldsOf } from './types.ts';

type Dns = FieldsOf<'dns'>;

/** Key of equal answers, without TTLs and record order, in which these may differ. */
export function answerKey(result: Dns): string {
  const answers = (result.answers ?? []).map(({ name, type, data }) => `${name} ${type} ${data}`).toSorted();
  const { rcode = null, answerKind = null, referral = null } = result;
  return JSON.stringify([rcode, answerKind, referral, result.error?.code ?? null, answers]);
}

/** The rcode, and properties that the records do not show; without an rcode, the error. */
export function titleOf({ rcode, error, answers = [], answerKind, canonicalName, referral }: Dns): string {
  if (rcode === undefined) return error === null || error === undefined ? 'No answer' : codeWords(error.code);
  // Older agents report no answer kind.
  if (answerKind === undefined) return rcode === 'NOERROR' && answers.length === 0 ? 'NOERROR, no records' : rcode;
  if (answerKind === 'referral') {
    return `${rcode}, referred to ${typeof referral === 'string' && referral !== '.' ? referral : 'the root'}`;
  }
  if (answerKind === 'nxdomain' && typeof canonicalName === 'string') return `${rcode}, alias of ${canonicalName}`;
  const words = kindWords[answerKind];
  return words === undefined ? rcode : `${rcode}, ${words}`;
}

const kindWords: Readonly<Partial<Record<NonNullable<Dns['answerKind']>, string>>> = {
  alias: 'the alias alone',
  nodata: 'no records of this type',
  filtered: 'filtered by the resolver',
  lame: 'no answer to the question',
  truncated: 'cut off',
  foreign: 'records that were not asked for',
  loop: 'aliases in a circle',
  malformed: 'malformed',
};

/** The records to show: those of the authority section for a referral, else the answers. */
export function visibleRecords({ answerKind, answers = [], authority = [] }: Dns): NonNullable<Dns['answers']> {
  return answerKind === 'referral' ? authority : answers;
}
