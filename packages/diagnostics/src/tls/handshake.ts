import { isIP, type Socket } from 'node:net';
import { connect, type PeerCertificate, type TLSSocket } from 'node:tls';

import type { Failure } from '@vantage/contract';

import { classifyCertificate, classifyError, connectionClosed, isAlert, timedOut } from '../classify.ts';
import {
  certificateFieldsOf,
  certificateOf,
  chainOf,
  daysLeft,
  describeChain,
  hasWeakKey,
  isFor,
  pointsToIssuer,
  type Certificate,
} from './certificate.ts';
import { describeStaple, isRevoked, type Ocsp } from './ocsp.ts';
import type { TlsFields } from './schema.ts';
import type { TrustStore } from './trust-store.ts';

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
    const started = performance.now();
    const tlsSocket = connect({
      socket,
      secureContext,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ALPNProtocols: [...alpn],
      requestOCSP: true,
      rejectUnauthorized: false,
      checkServerIdentity: () => undefined,
    });
    const settle = (outcome: () => Handshake): void => {
      signal.removeEventListener('abort', giveUp);
      tlsSocket
        .off('error', failed)
        .off('close', closed)
        .on('error', () => undefined);
      try {
        const secured = outcome();
        if (secured.socket === null) tlsSocket.destroy();
        resolve(secured);
      } catch (error) {
        // What strangers write into certificates must not end the process.
        tlsSocket.destroy();
        reject(error);
      }
    };
    const fail = (failure: Failure, fields: () => Omit<TlsFields, 'tls'> | null): void =>
      settle(() => ({ socket: null, fields: fields(), failure }));
    const shown = (): Omit<TlsFields, 'tls'> | null => shownBefore(tlsSocket);
    const giveUp = (): void => fail(timedOut('tls', 'The TLS handshake did not come to its end in time.'), shown);
    // Where the fault is found on this side it may be in the certificate, which then must not be asked for (`chainOf`).
    const failed = (error: unknown): void => fail(classifyError(error, 'tls'), isAlert(error) ? shown : () => null);
    const closed = (): void => fail(connectionClosed('tls'), () => null);
    signal.addEventListener('abort', giveUp);
    tlsSocket.on('error', failed).on('close', closed);
    let staple: Buffer | null = null;
    tlsSocket.once('OCSPResponse', (response: Buffer | null) => {
      staple = response;
    });
    tlsSocket.once('secureConnect', () => {
      const ms = performance.now() - started;
      settle(() => describe(tlsSocket, host, staple, ms));
    });
    if (signal.aborted) giveUp();
  });
}

/** A handshake of TLS 1.2 can still fail after the server's certificate, such as for want of one of the client. */
function shownBefore(socket: TLSSocket): Omit<TlsFields, 'tls'> | null {
  const peer: Partial<PeerCertificate> | null = socket.getPeerCertificate();
  if (peer?.raw === undefined) return null;
  return { ...certificateFieldsOf(certificateOf(peer.raw)), sslVersion: socket.getProtocol() ?? 'unknown' };
}

function describe(socket: TLSSocket, host: string, staple: Buffer | null, ms: number): Handshake {
  const chain = chainOf(socket.getPeerCertificate(true));
  const [leaf] = chain;
  if (leaf === undefined) {
    const message = 'The server sent no certificate.';
    const failure: Failure = { code: 'tls_handshake_failed', phase: 'tls', source: 'target', message };
    return { socket: null, fields: null, failure };
  }
  const now = Date.now();
  const ocsp = describeStaple(staple, leaf.parsed, chain[1]?.parsed, now);
  const distrust = verdict(socket, host, chain, ocsp);
  const protocol = socket.getProtocol() ?? 'unknown';
  const fields: TlsFields = {
    ...certificateFieldsOf(leaf),
    sslVersion: protocol,
    tls: {
      protocol,
      cipher: socket.getCipher().standardName,
      alpn: socket.alpnProtocol === false ? null : (socket.alpnProtocol ?? null),
      authorized: distrust === null,
      authorizationError: distrust?.code ?? null,
      daysLeft: daysLeft(leaf, now),
      ocsp,
      chain: describeChain(chain),
    },
  };
  return { socket, ms, fields, distrust, failure: null };
}

/** The first of what is wrong: the chain, then a revocation, then the name, then the strength of the keys. */
function verdict(socket: TLSSocket, host: string, chain: readonly Certificate[], ocsp: Ocsp): Failure | null {
  const [leaf] = chain as readonly [Certificate];
  // Typed as an Error, but Node puts the code of OpenSSL there.
  const verifyCode = socket.authorizationError as string | Error | null | undefined;
  if (typeof verifyCode === 'string') return classifyCertificate(knownIssuer(verifyCode, leaf));
  if (!socket.authorized) return classifyCertificate('UNSPECIFIED');
  if (isRevoked(ocsp)) return classifyCertificate('CERT_REVOKED');
  if (!isFor(host, leaf)) return classifyCertificate('ERR_TLS_CERT_ALTNAME_INVALID');
  return hasWeakKey(chain) ? classifyCertificate('WEAK_KEY') : null;
}

/**
 * OpenSSL has one code for a certificate that came alone, whether an intermediate is missing or a private root signed it,
 * which no server has to send. The certificate itself tells the two apart.
 */
function knownIssuer(verifyCode: string, leaf: Certificate): string {
  const isAlone = verifyCode === 'UNABLE_TO_VERIFY_LEAF_SIGNATURE';
  return isAlone && !pointsToIssuer(leaf) ? 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY' : verifyCode;
}
