import { ask, type AskedResolver, type AskOptions } from './ask.ts';
import { prepareQuery, type Answer, type PreparedQuery } from './transport/exchange.ts';

const NOERROR = 0;
const SERVFAIL = 2;
const NXDOMAIN = 3;

/** The extended errors about signatures, keys and algorithms (RFC 8914 section 4 and the registry). */
const dnssecErrors: ReadonlySet<number> = new Set([1, 2, 5, 6, 7, 8, 9, 10, 11, 12, 25, 27]);

/** Not Ready, the errors of a filter, No Reachable Authority, Network Error: another cause than the data. */
const otherErrors: ReadonlySet<number> = new Set([4, 14, 15, 16, 17, 18, 22, 23]);

/**
 * True where a resolver that answers SERVFAIL has an answer once it is asked not to validate, and answers SERVFAIL again
 * when it is asked to validate once more: the data is there, and the validation is what fails (RFC 4035 section 3.2.2). The
 * third question tells that from a trouble that was over by the second. A resolver that names another cause, and none of
 * DNSSEC, is believed: under CD it may answer from its cache.
 */
export async function failsValidation(
  { answer }: AskedResolver,
  prepared: PreparedQuery,
  options: AskOptions,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  if (answer === null || answer.message.rcode !== SERVFAIL || prepared.query.checkingDisabled) return false;
  if (namesAnotherCause(answer)) return false;
  const { server } = answer;
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const unchecked = prepareQuery({ ...prepared.query, checkingDisabled: true });
  const without = await ask(server, unchecked, options, bounded);
  const rcode = without.answer?.message.rcode;
  if (rcode !== NOERROR && rcode !== NXDOMAIN) return false;
  const again = await ask(server, prepared, options, bounded);
  return again.answer?.message.rcode === SERVFAIL && !namesAnotherCause(again.answer);
}

function namesAnotherCause({ message }: Answer): boolean {
  const codes = (message.edns?.extendedErrors ?? []).map(({ code }) => code);
  return codes.some((code) => otherErrors.has(code)) && !codes.some((code) => dnssecErrors.has(code));
}
