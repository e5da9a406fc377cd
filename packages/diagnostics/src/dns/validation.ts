import { ask, type AskedResolver, type AskOptions } from './ask.ts';
import { prepareQuery, type PreparedQuery } from './transport/exchange.ts';

const NOERROR = 0;
const SERVFAIL = 2;
const NXDOMAIN = 3;

/**
 * True where a resolver that answers SERVFAIL has an answer once it is asked not to validate, and answers SERVFAIL again
 * when it is asked to validate once more: the data is there, and the validation is what fails (RFC 4035 section 3.2.2). The
 * third question tells that from a trouble that was over by the second.
 */
export async function failsValidation(
  { answer }: AskedResolver,
  prepared: PreparedQuery,
  options: AskOptions,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  if (answer === null || answer.message.rcode !== SERVFAIL || prepared.query.checkingDisabled) return false;
  const { server } = answer;
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const unchecked = prepareQuery({ ...prepared.query, checkingDisabled: true });
  const without = await ask(server, unchecked, options, bounded);
  const rcode = without.answer?.message.rcode;
  if (rcode !== NOERROR && rcode !== NXDOMAIN) return false;
  const again = await ask(server, prepared, options, bounded);
  return again.answer?.message.rcode === SERVFAIL;
}
