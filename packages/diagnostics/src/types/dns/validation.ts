import { ask, type AskedResolver, type AskOptions } from './ask.ts';
import { prepareQuery, type Answer, type PreparedQuery } from './transport/exchange.ts';

const NOERROR = 0;
const SERVFAIL = 2;
const NXDOMAIN = 3;

/** The extended errors about signatures, keys and algorithms (RFC 8914 section 4 and the registry). */
const dnssecErrors: ReadonlySet<number> = new Set([1, 2, 5, 6, 7, 8, 9, 10, 11, 12, 25, 27]);

/** Not Ready, the errors of a filter, No Reachable Authority, Network Error: another cause than the data. */
const otherErrors: ReadonlySet<number> = new Set([4, 14, 15, 16, 17, 18, 22, 23]);

/** Result of verifying a resolver's validation. */
export type Validation = 'failed' | 'confirmed' | 'unconfirmed';

/** @param timeoutMs for the further questions that it takes */
export async function checkValidation(
  asked: AskedResolver,
  prepared: PreparedQuery,
  options: AskOptions,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Validation> {
  if (await failsValidation(asked, prepared, options, timeoutMs, signal)) return 'failed';
  return (await confirmsValidation(asked, prepared, options, timeoutMs, signal)) ? 'confirmed' : 'unconfirmed';
}

/**
 * True where a resolver that answers SERVFAIL has an answer once it is asked not to validate, and answers SERVFAIL again
 * when it is asked to validate once more: the data is there, and the validation is what fails (RFC 4035 section 3.2.2). The
 * third question tells that from a trouble that was over by the second. A resolver that names another cause, and none of
 * DNSSEC, is believed: under CD it may answer from its cache.
 */
async function failsValidation(
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

/**
 * True where the AD bit of an answer is the resolver's own word. A forwarder that knows nothing of DNSSEC may send the bit of
 * the query back, and others set it in every answer. So the question is asked twice more without the bit: a resolver that
 * validates sets AD where it is asked for DNSSEC records (DO), and leaves it out where nothing asks for it (RFC 6840
 * sections 5.7 and 5.8).
 */
async function confirmsValidation(
  { answer }: AskedResolver,
  { query }: PreparedQuery,
  options: AskOptions,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  if (answer === null || !answer.message.flags.includes('ad') || !canValidate(answer, query)) return false;
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const askFor = async (dnssecOk: boolean): Promise<boolean | undefined> => {
    const prepared = prepareQuery({ ...query, authenticData: false, edns: { dnssecOk, nsid: false } });
    const again = await ask(answer.server, prepared, options, bounded);
    if (again.answer?.message.rcode !== answer.message.rcode) return undefined;
    return again.answer.message.flags.includes('ad');
  };
  const [withDo, withNothing] = await Promise.all([askFor(true), askFor(false)]);
  return withDo === true && withNothing === false;
}

/** Only a resolver (RA) that was asked to resolve, with validation not switched off, has a verdict. */
export function canValidate({ message }: Answer, query: PreparedQuery['query']): boolean {
  return !query.checkingDisabled && query.recursionDesired && message.flags.includes('ra');
}
