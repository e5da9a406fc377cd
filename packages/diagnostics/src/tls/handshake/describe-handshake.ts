import type { EphemeralKeyInfo, TLSSocket } from 'node:tls';

import { certificateOf, type Certificate } from '../certificate/certificate.ts';
import { chromiumFaults } from '../faults/chromium-faults.ts';
import { certificateFieldsOf, daysLeft, describeChain } from '../certificate/describe-certificate.ts';
import { certificateFaults, type Verification } from '../faults/faults.ts';
import { issuerEndOf } from '../certificate/issuer-end.ts';
import { describeStaple } from '../certificate/ocsp.ts';
import { buildPath } from '../certificate/path.ts';
import type { Tls, TlsFields } from '../schema.ts';
import type { ServerFlight } from './server-flight.ts';
import type { TrustAnchors } from '../certificate/trust-store.ts';

/** Negotiated parameters, and OpenSSL's verdict on the certificates. */
export interface Negotiated {
  readonly protocol: string;
  readonly cipher: string;
  readonly keyExchange: NonNullable<Tls['keyExchange']> | null;
  /** `null` if OpenSSL accepts the chain. */
  readonly verification: Verification | null;
}

export interface Shaken {
  readonly host: string;
  readonly anchors: TrustAnchors;
  readonly staple: Buffer | null;
  readonly negotiated: Negotiated;
  readonly flight: ServerFlight;
}

/** Node does not expose OpenSSL's message, and `authorizationError` is `UNSPECIFIED` for most results. */
interface WithVerification {
  readonly _handle?: { readonly verifyError?: () => (Error & { readonly code?: string }) | null } | null;
}

/**
 * Reads the negotiated parameters when the keys are established: OpenSSL has verified the server's certificates by
 * then, but the server may still reject those of the client.
 */
export function negotiatedOf(socket: TLSSocket): Negotiated {
  const handle = (socket as unknown as WithVerification)._handle;
  const error = handle?.verifyError?.() ?? null;
  const { type, name, size } = (socket.getEphemeralKeyInfo() ?? {}) as Partial<EphemeralKeyInfo>;
  return {
    protocol: socket.getProtocol() ?? 'unknown',
    cipher: socket.getCipher().standardName,
    keyExchange: type === undefined || size === undefined ? null : { group: name ?? type, bits: size },
    verification: error === null ? null : { code: error.code ?? 'UNSPECIFIED', message: error.message },
  };
}

/**
 * The result fields of a TLS connection; `null` if the server's own certificate, the first, is absent or cannot be
 * read.
 */
export function describeTls({ host, anchors, staple, negotiated, flight }: Shaken): TlsFields | null {
  const [leaf] = readable(flight.certificates.slice(0, 1));
  if (leaf === undefined) return null;
  const sent = [leaf, ...readable(flight.certificates.slice(1))];
  const nowMs = Date.now();
  const path = buildPath(sent, anchors, nowMs);
  const ocsp = describeStaple(staple, leaf.parsed, path.certificates[1]?.parsed, nowMs);
  const { protocol, cipher, keyExchange, verification } = negotiated;
  const faults = certificateFaults({ host, path, verification, ocsp, nowMs });
  const issuerEnds = issuerEndOf(sent, anchors, path, nowMs);
  const refused = chromiumFaults({ path, anchors, isSigning: keyExchange !== null || protocol === 'TLSv1.3' });
  return {
    ...certificateFieldsOf(leaf),
    sslVersion: protocol,
    tls: {
      protocol,
      cipher,
      alpn: flight.alpn,
      authorized: faults.length === 0,
      authorizationError: faults[0]?.code ?? null,
      faults,
      ...(refused.length === 0 ? {} : { chromiumFaults: refused }),
      keyExchange,
      clientCertificateRequested: flight.asksForCertificate,
      mustStaple: leaf.mustStaple,
      daysLeft: daysLeft(leaf, nowMs),
      ...(issuerEnds === undefined ? {} : { issuerEnds }),
      ocsp,
      chain: describeChain(path.certificates),
      chainLength: path.certificates.length,
      sentCertificates: flight.certificates.length,
    },
  };
}

/**
 * The fields about the server's own certificate alone, for a handshake that failed before OpenSSL had verified it;
 * `null` if that cannot be read.
 */
export function describeLeaf(protocol: string | null, { certificates }: ServerFlight): Omit<TlsFields, 'tls'> | null {
  const [leaf] = readable(certificates.slice(0, 1));
  return leaf === undefined ? null : { ...certificateFieldsOf(leaf), sslVersion: protocol ?? 'unknown' };
}

/** The certificates that can be parsed; others are left out. */
function readable(certificates: readonly Buffer[]): readonly Certificate[] {
  return certificates.flatMap((der) => {
    try {
      return [certificateOf(der)];
    } catch {
      return [];
    }
  });
}
