import { isIP, type Socket } from 'node:net';
import { connect, type DetailedPeerCertificate, type TLSSocket } from 'node:tls';

import type { Failure } from '@vantage/contract';

import { classifyError, connectionClosed, timedOut } from '../../shared/classify-error.ts';
import type { Chosen } from '../chromium-offer.ts';
import { describeLeaf, describeTls, negotiatedOf, type Negotiated } from './describe-handshake.ts';
import { explainFailure, explainLater } from './explain-failure.ts';
import { distrustOf } from '../faults/faults.ts';
import type { TlsIdentity } from '../rules.ts';
import type { TlsFields } from '../schema.ts';
import { handshakeSecretOf, readServerFlight, type ServerFlight } from './server-flight.ts';
import type { Offer, TlsVersions, TrustAnchors, TrustStore } from '../certificate/trust-store.ts';
import { tapSocket, type WireTap } from './wire-tap.ts';

export interface HandshakeOptions {
  /** Canonical host, of the certificate too: a name is sent as SNI, an address is not (RFC 6066 section 3). */
  readonly host: string;
  readonly alpn: readonly string[];
  readonly trust: TrustStore;
  /** Versions of TLS; all by default. */
  readonly versions?: TlsVersions;
  /** Certificate for a server that requests one; none by default. */
  readonly identity?: TlsIdentity | undefined;
  readonly offer?: Offer;
}

export type Handshake =
  | {
      readonly socket: TLSSocket;
      readonly ms: number;
      readonly fields: TlsFields;
      /** What the server chose from the offer. */
      readonly chosen: Chosen;
      /**
       * True if the peer ended TLS (close_notify), false if it ended TCP alone; to be called at the `end` of the
       * socket.
       */
      readonly endedTls: () => boolean;
      /** Adds details from the handshake to a failure of this connection. */
      readonly explain: (failure: Failure) => Failure;
      /** The error that ended the connection after the handshake, such as a rejection of the client; `null` without. */
      readonly brokenBy: () => Failure | null;
      /** The failure of a check that verifies the certificate; null without a fault. The connection stays open. */
      readonly distrust: Failure | null;
      readonly failure: null;
    }
  | {
      readonly socket: null;
      /**
       * The certificate, if the server had shown it before the handshake failed; with `tls` if OpenSSL had judged it
       * too, as when the server refuses the client.
       */
      readonly fields: Partial<TlsFields> | null;
      readonly failure: Failure;
    };

/**
 * Performs a TLS handshake on a connected socket. It completes with untrusted certificates, too, to show them; the
 * caller must check the verdict.
 */
export async function tlsHandshake(socket: Socket, options: HandshakeOptions, signal: AbortSignal): Promise<Handshake> {
  return new Attempt(socket, options, signal).outcome;
}

/** A handshake in progress. Its data is kept after the end, to explain a later failure of the connection. */
class Attempt {
  readonly outcome: Promise<Handshake>;
  private readonly options: HandshakeOptions;
  private readonly signal: AbortSignal;
  private readonly anchors: TrustAnchors;
  private readonly tap: WireTap;
  private readonly tlsSocket: TLSSocket;
  private readonly promised = Promise.withResolvers<Handshake>();
  private handshakeSecret: Buffer | null = null;
  private staple: Buffer | null = null;
  private negotiated: Negotiated | null = null;
  private thrownLater: unknown;

  constructor(socket: Socket, options: HandshakeOptions, signal: AbortSignal) {
    this.outcome = this.promised.promise;
    this.options = options;
    this.signal = signal;
    const { host, alpn, trust, versions, identity, offer } = options;
    // The first use parses the trusted certificates, which takes some milliseconds and must not count as handshake
    // time.
    const secureContext = trust.secureContext(versions, identity, offer);
    this.anchors = trust.anchors();
    this.tap = tapSocket(socket);
    const started = performance.now();
    this.tlsSocket = connect({
      socket: this.tap.stream,
      secureContext,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ALPNProtocols: [...alpn],
      requestOCSP: true,
      rejectUnauthorized: false,
      checkServerIdentity: () => undefined,
    });
    // Node reads all certificates for `checkServerIdentity`, and ends the process at one with a curve that NIST has no
    // name for.
    this.tlsSocket.getPeerCertificate = () => ({}) as DetailedPeerCertificate;
    this.listen(started);
    if (signal.aborted) this.giveUp();
  }

  private listen(started: number): void {
    const { tlsSocket } = this;
    this.signal.addEventListener('abort', this.giveUp);
    tlsSocket.on('error', this.failed).on('close', this.closed);
    tlsSocket.on('keylog', (line: Buffer) => {
      this.handshakeSecret ??= handshakeSecretOf(line);
      if (HAS_KEYS.test(line.toString('latin1'))) this.negotiated = negotiatedOf(tlsSocket);
    });
    tlsSocket.once('OCSPResponse', (response: Buffer | null) => {
      this.staple = response;
    });
    tlsSocket.once('secureConnect', () => this.succeed(performance.now() - started));
  }

  private readonly giveUp = (): void =>
    this.fail(timedOut('tls', 'The TLS handshake did not come to its end in time.'));
  private readonly failed = (error: unknown): void => this.fail(classifyError(error, 'tls'), error);
  private readonly closed = (): void => this.fail(connectionClosed('tls'));

  private settle(outcome: () => Handshake): void {
    this.signal.removeEventListener('abort', this.giveUp);
    this.tlsSocket
      .off('error', this.failed)
      .off('close', this.closed)
      .on('error', (error) => {
        this.thrownLater ??= error;
      });
    try {
      const settled = outcome();
      if (settled.socket === null) this.tlsSocket.destroy();
      this.promised.resolve(settled);
    } catch (error) {
      // Certificates are untrusted input: an exception here must not end the process.
      this.tlsSocket.destroy();
      this.promised.reject(error);
    } finally {
      this.tap.stop();
    }
  }

  private fail(failure: Failure, thrown?: unknown): void {
    this.settle(() => {
      const flight = this.flight();
      const judged = this.negotiated === null ? null : this.describe(this.negotiated, flight);
      return {
        socket: null,
        fields: judged ?? describeLeaf(this.tlsSocket.getProtocol(), flight),
        failure: explainFailure(failure, thrown, flight, this.options),
      };
    });
  }

  private succeed(ms: number): void {
    this.settle(() => {
      const flight = this.flight();
      const fields = this.describe(negotiatedOf(this.tlsSocket), flight);
      if (fields === null) return { socket: null, fields, failure: noCertificate(flight) };
      return {
        socket: this.tlsSocket,
        ms,
        fields,
        chosen: flight.chosen,
        distrust: distrustOf(fields.tls.faults ?? []),
        failure: null,
        endedTls: () => !this.tap.hasEnded(),
        explain: (failure) => explainLater(failure, this.thrownLater, fields.tls, this.options),
        brokenBy: () => (this.thrownLater === undefined ? null : classifyError(this.thrownLater, 'request')),
      };
    });
  }

  private flight(): ServerFlight {
    return readServerFlight(this.tap.received(), this.handshakeSecret);
  }

  private describe(negotiated: Negotiated, flight: ServerFlight): TlsFields | null {
    const { anchors, staple } = this;
    return describeTls({ host: this.options.host, anchors, staple, negotiated, flight });
  }
}

/**
 * Lines of the `keylog` event that appear only after OpenSSL has verified the certificates: up to TLS 1.2, and of TLS
 * 1.3.
 */
const HAS_KEYS = /^(?:CLIENT_RANDOM|SERVER_TRAFFIC_SECRET_0) /;

function noCertificate({ certificates }: ServerFlight): Failure {
  const message =
    certificates.length === 0 ? 'The server sent no certificate.' : 'The certificate of the server cannot be read.';
  return { code: 'tls_handshake_failed', phase: 'tls', source: 'target', message };
}
