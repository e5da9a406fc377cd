import type { AnswerKind } from '@vantage/diagnostics/contract';

import { classifiedAnswer, isDelegated } from '../dns-answer.ts';
import type { ProbeResult, SparseResultOf } from '../probe-result.ts';
import { safeText, unique } from '../words.ts';

/** Clause with what the answers say about the name. */
export function resolved(host: string, type: string, up: readonly ProbeResult<SparseResultOf<'dns'>>[]): string {
  const read = up.map(({ result }) => classifiedAnswer(result));
  const has = (kind: AnswerKind): boolean => read.some((answer) => answer?.kind === kind);
  if (has('answer')) return `${host} resolves (${type})`;
  if (up.some(({ result }) => isDelegated(result))) return `${host} is delegated, by the zone above it, as seen`;
  if (has('alias') && has('nodata')) return `${host} has no records of type ${type} in the answers, as seen`;
  if (has('alias')) return `${host} is an alias, with no records of type ${type} in the answer, as seen`;
  const aliases = unique(read.flatMap((answer) => answer?.canonicalName ?? []));
  const [alias] = aliases;
  if (alias === undefined && !up.some(({ result }) => result.authority?.some((record) => record.type === 'SOA'))) {
    return `${host} has no records of type ${type}, by an answer without the SOA that proves it, as seen`;
  }
  if (alias === undefined) return `${host} exists, without records of type ${type}, as seen`;
  const end = aliases.length === 1 ? `of ${safeText(alias, 120)}, which` : 'of names that';
  return `${host} is an alias ${end} ${aliases.length === 1 ? 'has' : 'have'} no records of type ${type}, as seen`;
}
