import { isIP, type Socket } from 'node:net';
import { connect, type DetailedPeerCertificate, type TLSSocket } from 'node:tls';

import type { Failure } from '@vantage/contract';

import { classifyError, connectionClosed, timedOut } from '../../shared/classify-error.ts';
import { describeLeaf, describeTls, negotiatedOf, type Negotiated } from './describe-handshake.ts';
import { explainFailure, explainLater } from './explain-failure.ts';
import { distrustOf } from '../faults/faults.ts';
import type { TlsIdentity } from '../rules.ts';
import type { TlsFields } from '../schema.ts';
import { handshakeSecretOf, readServerFlight } from './server-flight.ts';
import type { TlsVersions, TrustStore } from '../certificate/trust-store.ts';
import { tapSocket } from './wire-tap.ts';

export interface HandshakeOptions {
  /**
   * Canonical host: a name is sent as SNI, a literal is not (RFC 6066 section 3); the certificate is checked
   * against it.
   */
  readonly host: string;
  readonly alpn: readonly string[];
  readonly trust: TrustStore;
  /** All by default. */
  readonly versions?: TlsVersions;
  /** Certificate for a server that requests one; none by default. */
  readonly identity?: TlsIdentity | undefined;
}

export type Handshake =
  | {
      readonly socket: TLSSocket;
      readonly ms: number;
      readonly fields: TlsFields;
      /** For the `end` of the socket: true if the peer ended TLS (close_notify), false if it ended TCP alone. */
      readonly endedTls: () => boolean;
      /** Adds details from the handshake to a failure of this connection. */
      readonly explain: (failure: Failure) => Failure;
      /**
       * Why the connection was closed since, for example because the server rejected the client; `null` if it is open.
       */
      readonly brokenBy: () => Failure | null;
      /** Why the certificate is not trusted; the connection stays open. */
      readonly distrust: Failure | null;
      readonly failure: null;
    }
  | {
      readonly socket: null;
      /**
       * The certificate, if the server had shown it before the handshake failed; with `tls` if OpenSSL had judged it too, as when
       * the server refuses the client.
       */
      readonly fields: Partial<TlsFields> | null;
      readonly failure: Failure;
    };

/**
 * Performs a TLS handshake on a connected socket. It completes with untrusted certificates, too, to show them; the
 * caller must check the verdict.
 */
export function tlsHandshake(socket: Socket, options: HandshakeOptions, signal: AbortSignal): Promise<Handshake> {
  return new Promise((resolve, reject) => {
    const { host, alpn, trust, versions, identity } = options;
    // The first use parses the trusted certificates, which takes some milliseconds and must not count as handshake
    // time.
    const secureContext = trust.secureContext(versions, identity);
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
    // Node reads all certificates for `checkServerIdentity`, and ends the process at one with a curve that NIST has no name for.
    tlsSocket.getPeerCertificate = () => ({}) as DetailedPeerCertificate;
    let handshakeSecret: Buffer | null = null;
    let staple: Buffer | null = null;
    let negotiated: Negotiated | null = null;
    let thrownLater: unknown;
    const settle = (outcome: () => Handshake): void => {
      signal.removeEventListener('abort', giveUp);
      tlsSocket
        .off('error', failed)
        .off('close', closed)
        .on('error', (error) => {
          thrownLater ??= error;
        });
      try {
        const settled = outcome();
        if (settled.socket === null) tlsSocket.destroy();
        resolve(settled);
      } catch (error) {
        // Certificates are untrusted input: an exception here must not end the process.
        tlsSocket.destroy();
        reject(error);
      } finally {
        tap.stop();
      }
    };
    const fail = (failure: Failure, thrown?: unknown): void =>
      settle(() => {
        const flight = readServerFlight(tap.received(), handshakeSecret);
        const judged = negotiated === null ? null : describeTls({ host, anchors, staple, negotiated, flight });
        return {
          socket: null,
          fields: judged ?? describeLeaf(tlsSocket.getProtocol(), flight),
          failure: explainFailure(failure, thrown, flight, options),
        };
      });
    const succeed = (ms: number): void =>
      settle(() => {
        const flight = readServerFlight(tap.received(), handshakeSecret);
        const fields = describeTls({ host, anchors, staple, negotiated: negotiatedOf(tlsSocket), flight });
        if (fields === null) return { socket: null, fields, failure: noCertificate() };
        return {
          socket: tlsSocket,
          ms,
          fields,
          distrust: distrustOf(fields.tls.faults ?? []),
          failure: null,
          endedTls: () => !tap.hasEnded(),
          explain: (failure) => explainLater(failure, thrownLater, fields.tls, options),
          brokenBy: () => (thrownLater === undefined ? null : classifyError(thrownLater, 'request')),
        };
      });
    const giveUp = (): void => fail(timedOut('tls', 'The TLS handshake did not come to its end in time.'));
    const failed = (error: unknown): void => fail(classifyError(error, 'tls'), error);
    const closed = (): void => fail(connectionClosed('tls'));
    signal.addEventListener('abort', giveUp);
    tlsSocket.on('error', failed).on('close', closed);
    tlsSocket.on('keylog', (line: Buffer) => {
      handshakeSecret ??= handshakeSecretOf(line);
      if (HAS_KEYS.test(line.toString('latin1'))) negotiated = negotiatedOf(tlsSocket);
    });
    tlsSocket.once('OCSPResponse', (response: Buffer | null) => {
      staple = response;
    });
    tlsSocket.once('secureConnect', () => succeed(performance.now() - started));
    if (signal.aborted) giveUp();
  });
}

/** Lines of the `keylog` event, before and since TLS 1.3, when the certificates have been judged. */
const HAS_KEYS = /^(?:CLIENT_RANDOM|SERVER_TRAFFIC_SECRET_0) /;

function noCertificate(): Failure {
  const message = 'The server sent no certificate.';
  return { code: 'tls_handshake_failed', phase: 'tls', source: 'target', message };
}
