import { ProblemError, UnusableResponse } from '@vantage/client';
import { flagName } from '@vantage/command-line';
import { isUntrustedIssuer, type AnyCheckType } from '@vantage/contract';
import { checkTypes } from '@vantage/diagnostics/contract';

const UNTRUSTED =
  'its certificate was issued by a CA that is not trusted; set NODE_EXTRA_CA_CERTS to a file with that CA, in PEM';
const ANOTHER = 'Name another service with --server or VANTAGE_URL.';

/**
 * Describes why a call failed and, if known, what to do about it.
 *
 * @param namesFlags false leaves the fields of the request as the service names them: they were not given by flags
 * @param proxyNote a sentence about the proxy in the environment, for a service that is unreachable
 */
export function serviceFault(error: unknown, baseUrl: string, namesFlags = true, proxyNote = ''): string {
  if (error instanceof ProblemError) {
    const refusal = refusalOf(error, baseUrl).replaceAll(/^\{(name|id)\}(?=:)/gm, (_, field) =>
      String(field).toUpperCase(),
    );
    return namesFlags ? withFlags(refusal) : refusal;
  }
  if (!Error.isError(error)) return String(error);
  if (error instanceof UnusableResponse) return `${baseUrl} answers, but not as a Vantage service. ${ANOTHER}`;
  // `fetch failed` hides its cause. A TypeError without a cause is a defect of this program.
  if (error.name !== 'TypeError' || error.cause === undefined) return error.message;
  return `${baseUrl} is unreachable: ${unreachable(error, baseUrl)}${proxyNote}`;
}

/** The URL with the scheme that was left out; undefined for other faults. */
export function withScheme(text: string): string | undefined {
  const url = `http://${text}`;
  return /^(\[[\da-f:.]+\]|[\w.-]+)(:\d+)?(\/.*)?$/i.test(text) && URL.canParse(url) ? url : undefined;
}

function refusalOf({ message, problem, status, retryAfterSeconds }: ProblemError, baseUrl: string): string {
  if (problem === undefined) {
    return `${baseUrl} answers with status ${status}, but not as a Vantage service. ${ANOTHER}`;
  }
  const { pathname, origin } = new URL(baseUrl);
  const isPath = status === 404 && pathname !== '/' && problem.type.endsWith('/not-found');
  if (isPath) return `${baseUrl} is no service, but a path of one; did you mean --server ${origin}?`;
  return retryAfterSeconds === undefined
    ? message
    : `${message} Try again in ${retryAfterSeconds} second${retryAfterSeconds === 1 ? '' : 's'}.`;
}

/**
 * Words of the command line, by the field of a request that each sets. Options are not listed: their flags have their
 * names.
 */
const words: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.values<AnyCheckType>(checkTypes)
      .flatMap(({ fields }) => Object.keys(fields as object))
      .map((field) => [field, `--${flagName(field)}`]),
  ),
  host: 'HOST',
  locations: '--from',
  ...Object.fromEntries(
    ['probes', 'limit', 'between', 'every', 'when', 'networks', 'countries', 'for'].map((name) => [name, `--${name}`]),
  ),
};

/** Replaces the pointers to fields in a problem's message by the words of the command line that set them, if any do. */
function withFlags(message: string): string {
  return message.replaceAll(
    /^(?:\/check|\/alarm)?(\/options)?\/(\w+)(?:\/\d+)?(?=[:/])/gm,
    (pointer, options: string | undefined, field: string) =>
      options !== undefined ? `--${flagName(field)}` : Object.hasOwn(words, field) ? words[field]! : pointer,
  );
}

function unreachable(error: Error, baseUrl: string): string {
  const { code, message } = causeOf(error);
  const { host, hostname, port } = new URL(baseUrl);
  if (code === 'ECONNREFUSED')
    return `${message}. Start a service with "npm start", or name another with --server or VANTAGE_URL.`;
  // Ports that the Fetch standard blocks.
  if (message === 'bad port') return `web clients refuse port ${port}, which belongs to another protocol. ${ANOTHER}`;
  if (code === 'ENOTFOUND') return `there is no address for ${hostname}. ${ANOTHER}`;
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER') return `it does not speak TLS; did you mean --server http://${host}?`;
  return message.endsWith('.') ? message : `${message}.`;
}

/** Code and text of the error behind `fetch failed`. */
export function causeOf({ cause, message }: Error): { readonly code: string | undefined; readonly message: string } {
  if (!Error.isError(cause)) return { code: undefined, message };
  const code = 'code' in cause ? String(cause.code) : undefined;
  if (isUntrustedIssuer(cause)) return { code, message: UNTRUSTED };
  // The message is empty if several addresses were tried.
  return { code, message: cause.message.trim() || (code ?? message) };
}
