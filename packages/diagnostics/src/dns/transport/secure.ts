import { constants } from 'node:crypto';
import { isIP } from 'node:net';
import { connect as connectTls, getCACertificates, type TLSSocket } from 'node:tls';

import type { Failure } from '@vantage/contract';

import { classifyCertificate, classifyError, timedOut } from '../../classify.ts';
import { connectPinned } from '../../connect.ts';
import { resolverFailure, type NameServer } from './exchange.ts';

export interface TlsTrust {
  /** Certificates in PEM to trust beside those that Node trusts. */
  readonly certificateAuthorities: readonly string[] | undefined;
}

export type Secured =
  | { readonly socket: TLSSocket; readonly connectMs: number; readonly tlsMs: number; readonly failure: null }
  | { readonly socket: null; readonly failure: Failure };

/**
 * TCP and TLS handshake with a resolver. Its certificate must be valid for the name or address that the caller gave
 * (strict privacy profile, RFC 8310 section 5): nothing is sent to another.
 */
export async function secure(
  server: NameServer,
  protocols: readonly string[],
  trust: TlsTrust,
  signal: AbortSignal,
): Promise<Secured> {
  const connected = await connectPinned(server.target, server.port, signal);
  if (connected.socket === null) return { socket: null, failure: resolverFailure(connected.failure) };
  const transport = connected.socket;
  return new Promise((resolve) => {
    const started = performance.now();
    const { host } = server.target;
    const socket = connectTls({
      socket: transport,
      host,
      // RFC 6066 section 3: no address literals in SNI. Node compares the certificate with `host` then.
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ALPNProtocols: [...protocols],
      rejectUnauthorized: false,
      // `TLSSocket.disableRenegotiation` stops only the clients of a server, not the servers of a client.
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
      ...authorities(trust),
    });
    let isSettled = false;
    const settle = (secured: Secured): void => {
      signal.removeEventListener('abort', giveUp);
      if (isSettled) return;
      isSettled = true;
      if (secured.socket === null) socket.destroy();
      resolve(secured);
    };
    const fail = (failure: Failure): void => settle({ socket: null, failure: resolverFailure(failure) });
    const giveUp = (): void => fail(timedOut('tls'));
    // An error may follow at any time of the socket's life; without a listener it ends the process.
    socket.on('error', (error) => fail(classifyError(error, 'tls')));
    socket.once('close', () => fail(closedEarly()));
    socket.once('secureConnect', () => {
      const tlsMs = performance.now() - started;
      if (!socket.authorized) return fail(classifyCertificate(String(socket.authorizationError)));
      settle({ socket, connectMs: connected.ms, tlsMs, failure: null });
    });
    signal.addEventListener('abort', giveUp);
    if (signal.aborted) giveUp();
  });
}

function authorities({ certificateAuthorities }: TlsTrust): { readonly ca?: string[] } {
  if (certificateAuthorities === undefined || certificateAuthorities.length === 0) return {};
  return { ca: [...getCACertificates('default'), ...certificateAuthorities] };
}

function closedEarly(): Failure {
  const message = 'The target closed the connection in the TLS handshake.';
  return { code: 'connection_closed', phase: 'tls', source: 'target', message };
}
