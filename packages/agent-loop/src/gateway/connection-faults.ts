import { isUntrustedIssuer } from '@vantage/contract';

const UNTRUSTED =
  'the certificate was issued by a CA that this agent does not trust: set VANTAGE_CA_FILE to a file with the CA of the ' +
  'service, or NODE_EXTRA_CA_CERTS to one with that of an https: proxy';

/**
 * Explains errors of certificates: names the setting for another CA if the issuer is not trusted, and the time of this
 * machine if the certificate is not valid now. Gives the errors of several addresses one text, and returns others as
 * they are.
 */
export function connectionFault(error: NodeJS.ErrnoException): Error {
  const { code, message } = error;
  const isOutOfTime = code === 'CERT_NOT_YET_VALID' || code === 'CERT_HAS_EXPIRED';
  if (error instanceof AggregateError && message === '') return Object.assign(new Error(textOf(error)), { code });
  if (!isUntrustedIssuer(error) && !isOutOfTime) return error;
  const text = isOutOfTime ? `${message}; the clock of this machine says ${new Date().toISOString()}` : UNTRUSTED;
  // Without a cause: its text would be logged, too.
  return Object.assign(new Error(text), { code });
}

/** Adds the setting to the message of an error that occurred before the connection to the proxy was made. */
export function proxyFault(error: NodeJS.ErrnoException): void {
  const isBefore = error.syscall === 'connect' || error.syscall === 'getaddrinfo' || error instanceof AggregateError;
  if (isBefore) error.message = `no connection to the proxy (HTTPS_PROXY): ${textOf(error)}`;
}

/** The messages of all errors: Node combines the failures of several addresses in an error that has none. */
function textOf(error: Error): string {
  if (!(error instanceof AggregateError)) return error.message;
  return error.errors.map((each) => (Error.isError(each) ? each.message : String(each))).join('; ');
}

/** Explains the HTTP status with which a WebSocket handshake was refused. */
export function handshakeRefusal(status: number, location?: string): string {
  const answer = `the WebSocket handshake was answered with HTTP status ${status}`;
  if (status === 429) return `${answer}: too many connections from this address`;
  if (status >= 500) return `${answer}: the gateway, or a proxy in front of it, is not ready`;
  if (status === 426) return `${answer}: a proxy in front of the service does not pass upgrades on`;
  if (status === 407) return `${answer}: the proxy requires a login; set it in HTTPS_PROXY`;
  if (status >= 300 && status < 400 && location !== undefined) {
    return `${answer}, a redirect to ${location.slice(0, 200)}: set VANTAGE_URL to the address of the service itself`;
  }
  return `${answer}: VANTAGE_URL is not the address of a Vantage service, or a proxy in front of it does not pass upgrades on`;
}
