import { ProblemError } from '@vantage/client';
import { flagName } from '@vantage/command-line';
import { isUntrustedIssuer } from '@vantage/contract';

const UNTRUSTED =
  'its certificate was issued by a CA that is not trusted; set NODE_EXTRA_CA_CERTS to a file with that CA, in PEM';
const ANOTHER = 'Name another service with --server or VANTAGE_URL.';

/** Describes why a call failed and, if known, what to do about it. */
export function serviceFault(error: unknown, baseUrl: string): string {
  if (error instanceof ProblemError) return refusalOf(error, baseUrl);
  if (!Error.isError(error)) return String(error);
  if (error.name === 'SyntaxError') return `${baseUrl} is not a Vantage service: its answer is no JSON. ${ANOTHER}`;
  // `fetch failed` hides its cause. A TypeError without a cause is a defect of this program.
  if (error.name !== 'TypeError' || error.cause === undefined) return error.message;
  return `${baseUrl} is unreachable: ${unreachable(error, baseUrl)}`;
}

/** The URL with the scheme that was left out; undefined for other faults. */
export function withScheme(text: string): string | undefined {
  const url = `http://${text}`;
  return /^(\[[\da-f:.]+\]|[\w.-]+)(:\d+)?(\/.*)?$/i.test(text) && URL.canParse(url) ? url : undefined;
}

function refusalOf({ message, problem, status }: ProblemError, baseUrl: string): string {
  if (problem === undefined) {
    return `${baseUrl} answers with status ${status}, but not as a Vantage service. ${ANOTHER}`;
  }
  const { pathname, origin } = new URL(baseUrl);
  const isPath = status === 404 && pathname !== '/' && problem.type.endsWith('/not-found');
  return isPath ? `${baseUrl} is no service, but a path of one; did you mean --server ${origin}?` : withFlags(message);
}

/** Replaces the paths of options in a problem's message by the flags of the command line. */
function withFlags(message: string): string {
  return message.replaceAll(/^\/options\/(\w+)(?=[:/])/gm, (_path, option: string) => `--${flagName(option)}`);
}

function unreachable(error: Error, baseUrl: string): string {
  const { code, message } = causeOf(error);
  const { host, hostname } = new URL(baseUrl);
  if (code === 'ECONNREFUSED')
    return `${message}. Start a service with "npm start", or name another with --server or VANTAGE_URL.`;
  if (code === 'ENOTFOUND') return `there is no address for ${hostname}. ${ANOTHER}`;
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER') return `it does not speak TLS; did you mean --server http://${host}?`;
  return `${message}.`;
}

/** Code and text of the error behind `fetch failed`. */
export function causeOf({ cause, message }: Error): { readonly code: string | undefined; readonly message: string } {
  if (!Error.isError(cause)) return { code: undefined, message };
  const code = 'code' in cause ? String(cause.code) : undefined;
  if (isUntrustedIssuer(cause)) return { code, message: UNTRUSTED };
  // The message is empty if several addresses were tried.
  return { code, message: cause.message.trim() || (code ?? message) };
}
