import { isIP, type Socket } from 'node:net';
import {
  checkServerIdentity,
  connect,
  createSecureContext,
  getCACertificates,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';

import type { Failure } from '@vantage/contract';

import { classifyCertificate, classifyError, connectionClosed, timedOut } from '../classify.ts';
import { certificateFieldsOf, chainOf, daysLeft, describeChain, hasWeakKey, type Certificate } from './certificate.ts';
import type { TlsFields } from './measured.ts';

export interface SecureOptions {
  /** Canonical host: a name is sent as SNI, a literal is not (RFC 6066 section 3); the certificate is held against it. */
  readonly host: string;
  readonly alpn: readonly string[];
  readonly certificateAuthorities: readonly string[];
}

export type Secured =
  | {
      readonly socket: TLSSocket;
      readonly ms: number;
      readonly fields: TlsFields;
      /** Why the certificate is not trusted; the connection stands all the same. */
      readonly distrust: Failure | null;
      readonly failure: null;
    }
  | { readonly socket: null; readonly failure: Failure };

/**
 * A TLS handshake over a connected socket. Trusted or not, it comes to its end, so that the certificate can be shown;
 * the verdict is for the caller to heed. TLS 1.0 and weak ciphers are allowed: they are measured, not relied on.
 */
export function secure(socket: Socket, options: SecureOptions, signal: AbortSignal): Promise<Secured> {
  return new Promise((resolve) => {
    const { host, alpn } = options;
    const secureContext = contextOf(options.certificateAuthorities);
    const started = performance.now();
    const tlsSocket = connect({
      socket,
      secureContext,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ALPNProtocols: [...alpn],
      rejectUnauthorized: false,
      checkServerIdentity: () => undefined,
    });
    const settle = (secured: Secured): void => {
      signal.removeEventListener('abort', giveUp);
      tlsSocket
        .off('error', failed)
        .off('close', closed)
        .on('error', () => undefined);
      if (secured.socket === null) tlsSocket.destroy();
      resolve(secured);
    };
    const giveUp = (): void =>
      settle({ socket: null, failure: timedOut('tls', 'The TLS handshake did not come to its end in time.') });
    const failed = (error: unknown): void => settle({ socket: null, failure: classifyError(error, 'tls') });
    const closed = (): void => settle({ socket: null, failure: connectionClosed('tls') });
    signal.addEventListener('abort', giveUp);
    tlsSocket.on('error', failed).on('close', closed);
    tlsSocket.once('secureConnect', () => {
      const ms = performance.now() - started;
      tlsSocket.disableRenegotiation();
      settle(describe(tlsSocket, host, ms));
    });
    if (signal.aborted) giveUp();
  });
}

/** Reads the trusted certificates, which takes some milliseconds where there are own ones: not time of the handshake. */
function contextOf(certificateAuthorities: readonly string[]): SecureContext {
  return createSecureContext({
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.3',
    ciphers: 'DEFAULT@SECLEVEL=0',
    ...(certificateAuthorities.length === 0
      ? {}
      : { ca: [...getCACertificates('default'), ...certificateAuthorities] }),
  });
}

function describe(socket: TLSSocket, host: string, ms: number): Secured {
  const peer = socket.getPeerCertificate(true);
  const chain = chainOf(peer);
  const [leaf] = chain;
  if (leaf === undefined) {
    const message = 'The server sent no certificate.';
    return { socket: null, failure: { code: 'tls_handshake_failed', phase: 'tls', source: 'target', message } };
  }
  const distrust = verdict(socket, host, chain);
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
      daysLeft: daysLeft(leaf, Date.now()),
      chain: describeChain(chain),
    },
  };
  return { socket, ms, fields, distrust, failure: null };
}

/** The first of what is wrong: the chain, then the name, then the strength of the keys. */
function verdict(socket: TLSSocket, host: string, chain: readonly Certificate[]): Failure | null {
  // Typed as an Error, but Node puts the code of OpenSSL there.
  const verifyCode = socket.authorizationError as string | Error | null | undefined;
  if (typeof verifyCode === 'string') return classifyCertificate(verifyCode);
  if (!socket.authorized) return classifyCertificate('UNSPECIFIED');
  if (checkServerIdentity(host, chain[0]!.legacy) !== undefined) {
    return classifyCertificate('ERR_TLS_CERT_ALTNAME_INVALID');
  }
  return hasWeakKey(chain) ? classifyCertificate('WEAK_KEY') : null;
}
