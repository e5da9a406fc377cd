import { isIP } from 'node:net';

import type { Failure } from '@vantage/contract';

import { isAlert } from '../../shared/classify-error.ts';
import { NEGOTIATES_AGAIN } from '../../shared/error-codes.ts';
import type { Tls } from '../schema.ts';
import type { ServerFlight } from './server-flight.ts';

/**
 * Alerts (RFC 5246 section 7.2.2, RFC 8446 section 6.2) with which servers refuse the certificate of a client, or its
 * absence.
 */
const CLIENT_CERTIFICATE_ALERT = /HANDSHAKE_FAILURE|CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED/;

const NAME_REQUIRED =
  'The server refuses a client that names no host; no name was sent (SNI), since the host of the URL is an address.';
/**
 * TLS 1.3 forbids renegotiation (RFC 8446 section 4.1.2), so the alert has another cause than `NEGOTIATES_AGAIN`
 * states.
 */
const REFUSED_LATER = 'The server ended TLS with the alert “handshake failure” after the handshake.';
const ASKED_FOR_CERTIFICATE = 'Before that it asked for a certificate of the client.';
const CLIENT_CERTIFICATE_REQUIRED = 'The server requires a certificate of the client.';
const CLIENT_CERTIFICATE_REFUSED = 'The server refuses the certificate of the client.';

interface Asked {
  readonly host: string;
  readonly alpn: readonly string[];
  /** Certificate that was shown to a server that requested one. */
  readonly identity?: object | undefined;
}

/** Explains a failure by the handshake so far. */
export function explainFailure(
  failure: Failure,
  thrown: unknown,
  flight: ServerFlight,
  { alpn, host, identity }: Asked,
): Failure {
  if (failure.code === 'protocol_unreachable') {
    return {
      ...failure,
      message: `The server speaks none of the protocols that were offered by ALPN: ${alpn.join(', ')}.`,
    };
  }
  if (isIP(host) !== 0 && codeOf(thrown) === 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME') {
    return { ...failure, message: NAME_REQUIRED };
  }
  return flight.asksForCertificate ? withClientCertificate(failure, thrown, identity) : failure;
}

/**
 * Explains why a request failed over an established connection: in TLS 1.3 a server verifies the client's
 * certificate, or notices its absence, after the handshake has ended for the client (RFC 8446 section 4.4.2.4).
 *
 * @param thrown what the socket threw, if anything
 */
export function explainLater(
  failure: Failure,
  thrown: unknown,
  { protocol, clientCertificateRequested }: Tls,
  { identity }: Pick<Asked, 'identity'> = {},
): Failure {
  // Once a response has begun, the server has accepted the client.
  if (protocol !== 'TLSv1.3' || failure.phase !== 'request') return failure;
  if (clientCertificateRequested === true) return withClientCertificate(failure, thrown, identity);
  return failure.message === NEGOTIATES_AGAIN ? { ...failure, message: REFUSED_LATER } : failure;
}

function withClientCertificate(failure: Failure, thrown: unknown, identity: object | undefined): Failure {
  const isEnd = failure.code === 'connection_closed' || failure.code === 'connection_reset';
  if (!isEnd && !isAlert(thrown)) return failure;
  const refusal = identity === undefined ? CLIENT_CERTIFICATE_REQUIRED : CLIENT_CERTIFICATE_REFUSED;
  const isRefusal = !isEnd && CLIENT_CERTIFICATE_ALERT.test(codeOf(thrown));
  return {
    ...failure,
    message: isRefusal ? refusal : `${failure.message} ${ASKED_FOR_CERTIFICATE}`,
  };
}

function codeOf(thrown: unknown): string {
  return Error.isError(thrown) && 'code' in thrown ? String(thrown.code) : '';
}
