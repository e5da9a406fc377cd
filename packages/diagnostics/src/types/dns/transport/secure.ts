import type { TLSSocket } from 'node:tls';

import type { Failure } from '@vantage/contract';

import { NO_PARAMETERS } from '../../../shared/error-codes.ts';
import { connectPinned } from '../../../sockets/connect.ts';
import { tlsHandshake } from '../../../tls/handshake/handshake.ts';
import type { Offer, TrustStore } from '../../../tls/certificate/trust-store.ts';
import { resolverFailure, type NameServer } from './query.ts';

export type Secured = SecureChannel | { readonly socket: null; readonly failure: Failure };

export interface SecureChannel {
  readonly socket: TLSSocket;
  readonly connectMs: number;
  readonly tlsMs: number;
  /** True if the resolver ended TLS (close_notify) and not TCP alone; to be called at the end of the connection. */
  readonly endedTls: () => boolean;
  /** Adds details from the handshake to a failure of this connection. */
  readonly explain: (failure: Failure) => Failure;
  /** Bytes received over TCP, including TLS overhead. */
  readonly receivedBytes: () => number;
  readonly failure: null;
}

/** TLS 1.2 and newer, as the protocol profile of RFC 8310 requires; the http check supports older versions, too. */
const VERSIONS: ReadonlySet<string> = new Set(['TLSv1.2', 'TLSv1.3']);

/**
 * Performs the TCP and TLS handshakes with a resolver. Its certificate must be valid for the given name or address
 * (strict privacy profile, RFC 8310 section 5); otherwise no query is sent. A resolver that agrees to no usual group
 * gets a second connection, since it may require a post-quantum one.
 */
export async function secure(
  server: NameServer,
  protocols: readonly string[],
  trust: TrustStore,
  signal: AbortSignal,
): Promise<Secured> {
  const secured = await connectBy('usual', server, protocols, trust, signal);
  if (secured.failure?.message !== NO_PARAMETERS) return secured;
  return connectBy('with ML-KEM', server, protocols, trust, signal);
}

async function connectBy(
  offer: Offer,
  server: NameServer,
  protocols: readonly string[],
  trust: TrustStore,
  signal: AbortSignal,
): Promise<Secured> {
  const connected = await connectPinned(server.target, server.port, signal);
  if (connected.socket === null) return { socket: null, failure: resolverFailure(connected.failure) };
  const { host } = server.target;
  const handshake = await tlsHandshake(connected.socket, { host, alpn: protocols, trust, offer }, signal);
  if (handshake.socket === null) {
    connected.socket.destroy();
    return { socket: null, failure: resolverFailure(handshake.failure) };
  }
  const { socket, ms: tlsMs, fields, distrust, endedTls, explain } = handshake;
  const refusal = VERSIONS.has(fields.sslVersion) ? distrust : tooOld(fields.sslVersion);
  const receivedBytes = (): number => connected.socket.bytesRead;
  if (refusal === null) {
    return { socket, connectMs: connected.ms, tlsMs, endedTls, explain, receivedBytes, failure: null };
  }
  socket.destroy();
  return { socket: null, failure: resolverFailure(refusal) };
}

function tooOld(version: string): Failure {
  const message = `The server speaks ${version}; DNS over TLS and HTTPS ask for TLS 1.2 or later.`;
  return { code: 'tls_protocol_unsupported', phase: 'tls', source: 'target', message };
}
