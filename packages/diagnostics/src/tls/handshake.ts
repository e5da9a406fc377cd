import { isIP, type Socket } from 'node:net';
import { connect, type EphemeralKeyInfo, type TLSSocket } from 'node:tls';

import type { Failure } from '@vantage/contract';

import { classifyError, connectionClosed, isAlert, timedOut } from '../classify.ts';
import { certificateOf, type Certificate } from './certificate.ts';
import { certificateFieldsOf, daysLeft, describeChain } from './describe-certificate.ts';
import { certificateFaults, distrustOf, type Verification } from './faults.ts';
import { describeStaple } from './ocsp.ts';
import { NEGOTIATES_AGAIN } from '../verdicts.ts';
import { buildPath } from './path.ts';
import type { Tls, TlsFields } from './schema.ts';
import { handshakeSecretOf, readServerFlight, type ServerFlight } from './server-flight.ts';
import type { TrustAnchors, TrustStore } from './trust-store.ts';
import { tapSocket } from './wire-tap.ts';

export interface HandshakeOptions {
  /** Canonical host: a name is sent as SNI, a literal is not (RFC 6066 section 3); the certificate is held against it. */
  readonly host: string;
  readonly alpn: readonly string[];
  readonly trust: TrustStore;
}

export type Handshake =
  | {
      readonly socket: TLSSocket;
      readonly ms: number;
      readonly fields: TlsFields;
      /** Why the certificate is not trusted; the connection stands all the same. */
      readonly distrust: Failure | null;
      readonly failure: null;
    }
  | {
      readonly socket: null;
      /** The certificate, where the server had shown it before the handshake failed; nobody has verified it. */
      readonly fields: Omit<TlsFields, 'tls'> | null;
      readonly failure: Failure;
    };

/**
 * A TLS handshake over a connected socket. Trusted or not, it comes to its end, so that the certificate can be shown;
 * the verdict is for the caller to heed.
 */
export function tlsHandshake(socket: Socket, options: HandshakeOptions, signal: AbortSignal): Promise<Handshake> {
  return new Promise((resolve, reject) => {
    const { host, alpn, trust } = options;
    // The first use reads the trusted certificates, which takes some milliseconds: not time of the handshake.
    const secureContext = trust.secureContext();
    const anchors = trust.anchors();
    const tap = tapSocket(socket);
    const started = performance.now();
    const tlsSocket = connect({
      socket: tap.stream,
      secureContext,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ALPNProtocols: [...alpn],
      requestOCSP: true,
      rejectUnauthorized: false,
      checkServerIdentity: () => undefined,
    });
    let handshakeSecret: Buffer | null = null;
    let staple: Buffer | null = null;
    const flight = (): ServerFlight => readServerFlight(tap.received(), handshakeSecret);
    const settle = (outcome: () => Handshake): void => {
      signal.removeEventListener('abort', giveUp);
      tlsSocket
        .off('error', failed)
        .off('close', closed)
        .on('error', () => undefined);
      try {
        const settled = outcome();
        if (settled.socket === null) tlsSocket.destroy();
        resolve(settled);
      } catch (error) {
        // What strangers write into certificates must not end the process.
        tlsSocket.destroy();
        reject(error);
      } finally {
        tap.stop();
      }
    };
    const fail = (failure: Failure, thrown?: unknown): void =>
      settle(() => {
        const seen = flight();
        return {
          socket: null,
          fields: shownBefore(tlsSocket, seen),
          failure: explained(failure, thrown, seen, options),
        };
      });
    const giveUp = (): void => fail(timedOut('tls', 'The TLS handshake did not come to its end in time.'));
    const failed = (error: unknown): void => fail(classifyError(error, 'tls'), error);
    const closed = (): void => fail(connectionClosed('tls'));
    signal.addEventListener('abort', giveUp);
    tlsSocket.on('error', failed).on('close', closed);
    tlsSocket.on('keylog', (line: Buffer) => {
      handshakeSecret ??= handshakeSecretOf(line);
    });
    tlsSocket.once('OCSPResponse', (response: Buffer | null) => {
      staple = response;
    });
    tlsSocket.once('secureConnect', () => {
      const ms = performance.now() - started;
      settle(() => describe(tlsSocket, { host, anchors, staple, ms }, flight()));
    });
    if (signal.aborted) giveUp();
  });
}

/** A handshake can still fail after the server's certificate, such as for want of one of the client. */
function shownBefore(socket: TLSSocket, { certificates }: ServerFlight): Omit<TlsFields, 'tls'> | null {
  const [leaf] = readable(certificates.slice(0, 1));
  return leaf === undefined ? null : { ...certificateFieldsOf(leaf), sslVersion: socket.getProtocol() ?? 'unknown' };
}

/** RFC 5246 section 7.2.2: alerts by which servers refuse a client that has no certificate. */
const CLIENT_CERTIFICATE_ALERT = /HANDSHAKE_FAILURE|CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED/;

/** Says what the handshake so far tells about its failure. */
function explained(failure: Failure, thrown: unknown, flight: ServerFlight, { alpn, host }: HandshakeOptions): Failure {
  if (failure.code === 'protocol_unreachable') {
    return {
      ...failure,
      message: `The server speaks none of the protocols that were offered by ALPN: ${alpn.join(', ')}.`,
    };
  }
  if (isIP(host) !== 0 && codeOf(thrown) === 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME') {
    return { ...failure, message: NAME_REQUIRED };
  }
  const isEnd = failure.code === 'connection_closed' || failure.code === 'connection_reset';
  if (!flight.asksForCertificate || !(isEnd || isAlert(thrown))) return failure;
  const isRefusal = !isEnd && CLIENT_CERTIFICATE_ALERT.test(codeOf(thrown));
  return {
    ...failure,
    message: isRefusal ? CLIENT_CERTIFICATE_REQUIRED : `${failure.message} ${ASKED_FOR_CERTIFICATE}`,
  };
}

function codeOf(thrown: unknown): string {
  return Error.isError(thrown) && 'code' in thrown ? String(thrown.code) : '';
}

/**
 * Says why a request failed over a connection that stood: in TLS 1.3 a server judges the certificate of the client, or its
 * absence, when the handshake has ended for the client (RFC 8446 section 4.4.2.4).
 */
export function explainLater(failure: Failure, { protocol, clientCertificateRequested }: Tls): Failure {
  if (protocol !== 'TLSv1.3') return failure;
  if (clientCertificateRequested !== true) {
    return failure.message === NEGOTIATES_AGAIN ? { ...failure, message: REFUSED_LATER } : failure;
  }
  if (failure.code === 'connection_closed' || failure.code === 'connection_reset') {
    return { ...failure, message: `${failure.message} ${ASKED_FOR_CERTIFICATE}` };
  }
  return failure.code === 'tls_handshake_failed' ? { ...failure, message: CLIENT_CERTIFICATE_REQUIRED } : failure;
}

const NAME_REQUIRED =
  'The server refuses a client that names no host; no name was sent (SNI), since the host of the URL is an address.';
/** TLS 1.3 has no second handshake (RFC 8446 section 4.6). */
const REFUSED_LATER = 'The server ended TLS with the alert “handshake failure” after the handshake.';
const ASKED_FOR_CERTIFICATE = 'Before that it asked for a certificate of the client.';
const CLIENT_CERTIFICATE_REQUIRED = 'The server requires a certificate of the client.';

interface Shaken {
  readonly host: string;
  readonly anchors: TrustAnchors;
  readonly staple: Buffer | null;
  readonly ms: number;
}

function describe(socket: TLSSocket, { host, anchors, staple, ms }: Shaken, flight: ServerFlight): Handshake {
  const sent = readable(flight.certificates);
  const [leaf] = sent;
  if (leaf === undefined) {
    const message = 'The server sent no certificate.';
    const failure: Failure = { code: 'tls_handshake_failed', phase: 'tls', source: 'target', message };
    return { socket: null, fields: null, failure };
  }
  const nowMs = Date.now();
  const path = buildPath(sent, anchors, nowMs);
  const ocsp = describeStaple(staple, leaf.parsed, path.certificates[1]?.parsed, nowMs);
  const faults = certificateFaults({ host, path, verification: verificationOf(socket), ocsp, nowMs });
  const protocol = socket.getProtocol() ?? 'unknown';
  const fields: TlsFields = {
    ...certificateFieldsOf(leaf),
    sslVersion: protocol,
    tls: {
      protocol,
      cipher: socket.getCipher().standardName,
      alpn: socket.alpnProtocol === false ? null : (socket.alpnProtocol ?? null),
      authorized: faults.length === 0,
      authorizationError: faults[0]?.code ?? null,
      faults,
      keyExchange: keyExchangeOf(socket),
      clientCertificateRequested: flight.asksForCertificate,
      mustStaple: leaf.mustStaple,
      daysLeft: daysLeft(leaf, nowMs),
      ocsp,
      chain: describeChain(path.certificates),
      chainLength: path.certificates.length,
      sentCertificates: flight.certificates.length,
    },
  };
  return { socket, ms, fields, distrust: distrustOf(faults), failure: null };
}

/** What OpenSSL could not read either belongs to no path. */
function readable(certificates: readonly Buffer[]): readonly Certificate[] {
  return certificates.flatMap((der) => {
    try {
      return [certificateOf(der)];
    } catch {
      return [];
    }
  });
}

/** Node keeps the words of OpenSSL to itself, and `authorizationError` is `UNSPECIFIED` for most of its results. */
interface WithVerification {
  readonly _handle?: { readonly verifyError?: () => Error | null } | null;
}

function verificationOf(socket: TLSSocket): Verification | null {
  if (socket.authorized) return null;
  // Typed as an Error, but Node puts the code of OpenSSL there.
  const code = String(socket.authorizationError ?? 'UNSPECIFIED');
  const handle = (socket as unknown as WithVerification)._handle;
  return { code, message: handle?.verifyError?.()?.message ?? code };
}

function keyExchangeOf(socket: TLSSocket): NonNullable<Tls['keyExchange']> | null {
  const { type, name, size } = (socket.getEphemeralKeyInfo() ?? {}) as Partial<EphemeralKeyInfo>;
  return type === undefined || size === undefined ? null : { group: name ?? type, bits: size };
}
