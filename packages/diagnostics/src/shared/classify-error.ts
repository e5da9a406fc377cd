import { isIPv4 } from 'node:net';

import type { Failure, FailureCode, FailurePhase } from '@vantage/contract';

import {
  certificateVerdicts,
  headersTooLarge,
  laterTlsVerdicts,
  noPortLeft,
  socketVerdicts,
  tlsVerdicts,
  type ErrorMeaning,
} from './error-codes.ts';

/**
 * Converts an exception of Node to a failure by the tables of `error-codes.ts`. Never throws: an unknown exception
 * becomes `internal_error` of the probe, and an unknown code `ERR_SSL_…` a failure of TLS.
 *
 * @param phase phase of the check in which it was thrown
 */
export function classifyError(thrown: unknown, phase: FailurePhase): Failure {
  const code = errorCode(thrown);
  const isLater = phase === 'request' || phase === 'response';
  const later = code === undefined || !isLater ? undefined : laterTlsVerdict(code);
  const verdict = later ?? (code === undefined ? undefined : verdictOf(code, thrown));
  if (verdict !== undefined) return { phase, ...verdict };
  const name = code ?? (Error.isError(thrown) ? thrown.name : typeof thrown);
  return {
    code: 'internal_error',
    phase,
    source: 'probe',
    message: `The probe had an internal fault (${name}).`,
  };
}

/**
 * The failure of a certificate chain that OpenSSL rejected.
 *
 * @param verifyCode name of OpenSSL's verification result without `X509_V_ERR_`, as in `TLSSocket.authorizationError`
 * @param words OpenSSL's message, used for unknown codes
 */
export function classifyCertificate(verifyCode: string, words = verifyCode): Failure {
  const verdict = lookUp(certificateVerdicts, verifyCode) ?? {
    code: 'tls_untrusted',
    source: 'target',
    message: `The certificate is not trusted (${words}).`,
  };
  return { phase: 'tls', ...verdict };
}

/**
 * The failure of an HTTP/2 answer that the peer ended by RST_STREAM or GOAWAY (RFC 9113 section 7).
 *
 * @param error the frame, its error code and the name of that code
 */
export function classifyPeerError(
  error: { readonly frame: string; readonly code: number; readonly name: string },
  phase: FailurePhase,
): Failure {
  const ended = error.frame === 'GOAWAY' ? 'connection' : 'stream';
  const message = `The target ended the HTTP/2 ${ended} with ${error.name} (${error.code}).`;
  const code = error.code === HTTP_1_1_REQUIRED && phase === 'request' ? 'protocol_unreachable' : 'http2_ended';
  return { code, phase, source: 'target', message };
}

/** Error code by which a server asks for the request over HTTP/1.1 (RFC 9113 section 7). */
export const HTTP_1_1_REQUIRED = 13;

/** The failure of a wait that timed out. */
export function timedOut(phase: FailurePhase, message = 'No reply arrived in time.'): Failure {
  return { code: 'timed_out', phase, source: 'network', message };
}

/** The failure of a connection that was closed too early. */
export function connectionClosed(phase: FailurePhase): Failure {
  return { code: 'connection_closed', phase, source: 'target', message: 'The target closed the connection.' };
}

/** The failure of an answer whose head or trailers exceed their limit. */
export function headTooLarge(phase: FailurePhase): Failure {
  return { phase, ...headersTooLarge };
}

/** True for an error of Node whose code contains `_ALERT_`, as those of most alerts of TLS do. */
export function isAlert(thrown: unknown): boolean {
  return errorCode(thrown)?.includes('_ALERT_') ?? false;
}

/** The field `result` of a result with this failure. */
export function outcomeOf(failure: Failure): 'failure' | 'timeout' | 'error' {
  if (timeouts.has(failure.code)) return 'timeout';
  return failure.source === 'probe' ? 'error' : 'failure';
}

const timeouts: ReadonlySet<FailureCode> = new Set(['timed_out', 'dns_servers_silent', 'http_body_unfinished']);

function verdictOf(code: string, thrown: unknown): ErrorMeaning | undefined {
  if (code === 'ECONNRESET' && !fromKernel(thrown)) return socketVerdicts['EPIPE'];
  if (code === 'EADDRNOTAVAIL' && isToIPv4(thrown)) return noPortLeft;
  const verdict = lookUp(socketVerdicts, code) ?? lookUp(tlsVerdicts, code);
  if (verdict !== undefined) return verdict;
  if (code.startsWith('ERR_SSL_')) {
    const reason = code.slice('ERR_SSL_'.length).toLowerCase().replaceAll('_', ' ');
    return { code: 'tls_handshake_failed', source: 'target', message: `The TLS handshake failed (${reason}).` };
  }
  return undefined;
}

/**
 * Meaning of an OpenSSL error after a completed handshake. The message for a code that is not in the table quotes the
 * name of the alert or fault. Undefined for a code that does not begin with `ERR_SSL_`.
 */
function laterTlsVerdict(code: string): ErrorMeaning | undefined {
  const known = lookUp(laterTlsVerdicts, code);
  if (known !== undefined || !code.startsWith('ERR_SSL_')) return known;
  const [, alert] = /_ALERT_(.+)$/.exec(code) ?? [];
  const words = (alert ?? code.slice('ERR_SSL_'.length)).toLowerCase().replaceAll('_', ' ');
  const message =
    alert === undefined
      ? `TLS failed after the handshake (${words}).`
      : `The server ended TLS with the alert “${words}”.`;
  return { code: 'tls_handshake_failed', source: 'target', message };
}

/**
 * True for an error of the kernel, which names a system call: Node also reports ECONNRESET for an orderly FIN during a
 * handshake or response.
 */
function fromKernel(thrown: unknown): boolean {
  return Error.isError(thrown) && 'syscall' in thrown;
}

/** True if the error names the address of a connection, and it is an IPv4 address. */
function isToIPv4(thrown: unknown): boolean {
  return Error.isError(thrown) && 'address' in thrown && isIPv4(String(thrown.address));
}

function errorCode(thrown: unknown): string | undefined {
  if (!Error.isError(thrown) || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
}

/** Own properties only: untrusted codes such as `constructor` must not match inherited ones. */
function lookUp(table: Readonly<Record<string, ErrorMeaning>>, code: string): ErrorMeaning | undefined {
  return Object.hasOwn(table, code) ? table[code] : undefined;
}
