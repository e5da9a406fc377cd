import { isDnssecError, isFilterError, isStaleError, type AnswerKind } from '@vantage/diagnostics/contract';

import type { SparseResultOf } from './probe-result.ts';
import { safeText } from './words.ts';

type Dns = SparseResultOf<'dns'>;
type ExtendedError = NonNullable<NonNullable<Dns['edns']>['extendedErrors']>[number];

/** The extended DNS errors (RFC 8914) of an answer. */
export function extendedErrorsOf({ edns }: Dns): readonly ExtendedError[] {
  return edns?.extendedErrors ?? [];
}

/** The first error with one of these codes, such as `EDE 17 Filtered`; undefined without one. */
export function extendedErrorText(result: Dns, isMeant: (code: number) => boolean): string | undefined {
  const error = extendedErrorsOf(result).find(({ code }) => isMeant(code));
  return error === undefined ? undefined : `EDE ${error.code} ${safeText(error.name, 64)}`;
}

/** True for records that a resolver says a filter made: they may not be those of the name. */
export function areForged(kind: AnswerKind, result: Dns): boolean {
  return kind === 'answer' && extendedErrorsOf(result).some(({ code }) => isFilterError(code));
}

/** Other Error and Cached Error, which name no cause. */
const causeless: ReadonlySet<number> = new Set([0, 13]);

/**
 * Why a resolver could not answer, by its extended error: `EDE 22 No Reachable Authority`. If the validation failed,
 * the first error about DNSSEC is preferred to others.
 */
export function causeOf(result: Dns): string | undefined {
  const isOfDnssec = result.dnssec?.verdict === 'validation_failed' && isOfSignatures(result);
  return isOfDnssec
    ? extendedErrorText(result, isDnssecError)
    : extendedErrorText(result, (code) => !causeless.has(code));
}

/** True if the resolver says that the signatures or keys of the zone are the cause. */
export function isOfSignatures(result: Dns): boolean {
  return extendedErrorsOf(result).some(({ code }) => isDnssecError(code));
}

/** The error that says that an answer is an expired one from the cache, such as `EDE 3 Stale Answer`. */
export function staleText(result: Dns): string | undefined {
  const isAnswer = result.rcode === 'NOERROR' || result.rcode === 'NXDOMAIN';
  return isAnswer ? extendedErrorText(result, isStaleError) : undefined;
}

/** True for an answer that has expired: it says what the name was, not what it is. */
export function isStale(result: Dns): boolean {
  return staleText(result) !== undefined;
}
