import { createHash, verify, X509Certificate, type KeyObject } from 'node:crypto';

import { DerError } from './der.ts';
import { readCertificateBody } from './certificate-body.ts';
import { readOcspResponse, type OcspAnswer, type OcspResponse } from './ocsp-response.ts';
import type { Tls } from '../schema.ts';

/** The field `tls.ocsp` of a result. */
export type Ocsp = NonNullable<Tls['ocsp']> | null;

/**
 * The content of a stapled OCSP response about a server's certificate, and its trustworthiness.
 *
 * @param staple as the server sent it; `null` without one
 * @param issuer the issuing certificate, if known: without it neither the hash of its key nor the signature can be
 *   checked
 */
export function describeStaple(
  staple: Uint8Array | null,
  leaf: X509Certificate,
  issuer: X509Certificate | undefined,
  nowMs: number,
): Ocsp {
  if (staple === null || staple.length === 0) return null;
  try {
    const response = readOcspResponse(staple);
    if ('errorStatus' in response) return { ...nothing, status: 'error' };
    const answer = response.answers.find((candidate) => concerns(candidate, leaf, issuer));
    if (answer === undefined) return { ...nothing, status: 'foreign' };
    const { status, thisUpdate, nextUpdate, revokedAt, reason } = answer;
    return {
      status,
      thisUpdate: thisUpdate.toISOString(),
      nextUpdate: nextUpdate?.toISOString() ?? null,
      current: thisUpdate.getTime() <= nowMs + CLOCK_SKEW_MS && (nextUpdate?.getTime() ?? Infinity) >= nowMs,
      revokedAt: revokedAt?.toISOString() ?? null,
      revocationReason: reason === null ? null : (REASONS[reason] ?? null),
      signature: issuer === undefined ? 'unchecked' : signatureOf(response, issuer, nowMs),
    };
  } catch (error) {
    if (error instanceof DerError) return { ...nothing, status: 'malformed' };
    throw error;
  }
}

/**
 * True if the certificate counts as revoked. A revocation outlives its response, so its age does not matter, except of
 * a hold, which may end (RFC 5280 section 5.3.1); a server's own staple is believed even if its signature cannot be
 * checked, but not if it is wrong.
 */
export function isRevoked(ocsp: Ocsp): boolean {
  if (ocsp?.status !== 'revoked' || ocsp.signature === 'invalid') return false;
  return ocsp.current || ocsp.revocationReason !== 'certificateHold';
}

const nothing = {
  thisUpdate: null,
  nextUpdate: null,
  current: false,
  revokedAt: null,
  revocationReason: null,
  signature: 'unchecked',
} as const;

/** Tolerance for the clock of a responder. */
const CLOCK_SKEW_MS = 5 * 60_000;

/** Names of the reasons for a revocation by their numbers (RFC 5280 section 5.3.1). */
const REASONS: Readonly<Record<number, string>> = {
  0: 'unspecified',
  1: 'keyCompromise',
  2: 'cACompromise',
  3: 'affiliationChanged',
  4: 'superseded',
  5: 'cessationOfOperation',
  6: 'certificateHold',
  8: 'removeFromCRL',
  9: 'privilegeWithdrawn',
  10: 'aACompromise',
};

/**
 * True if the answer is about this certificate, which it identifies by the serial number and by hashes of its issuer's
 * name and key (RFC 6960 section 4.1.1). The key is compared only if the issuer is known.
 */
function concerns(answer: OcspAnswer, leaf: X509Certificate, issuer: X509Certificate | undefined): boolean {
  const named = readCertificateBody(leaf.raw);
  const digest = DIGESTS[answer.hashAlgorithm];
  if (!Buffer.from(answer.serialNumber).equals(named.serialNumber)) return false;
  if (digest === undefined) return false;
  const hash = (bytes: Uint8Array): Buffer => createHash(digest).update(bytes).digest();
  if (!hash(named.issuerName).equals(answer.issuerNameHash)) return false;
  return issuer === undefined || hash(readCertificateBody(issuer.raw).publicKey).equals(answer.issuerKeyHash);
}

const DIGESTS: Readonly<Record<string, string>> = {
  '1.3.14.3.2.26': 'sha1',
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
};

type Signature = NonNullable<Ocsp>['signature'];

/**
 * By which key the signature of the response was verified: that of the certificate's issuer, or of a responder to which
 * the issuer gave a certificate for that purpose (RFC 6960 section 4.2.2.2); or that it was not.
 */
function signatureOf(response: OcspResponse, issuer: X509Certificate, nowMs: number): Signature {
  const digest = SIGNATURE_DIGESTS[response.signatureAlgorithm];
  if (digest === undefined) return 'unchecked';
  const signedBy = (key: KeyObject): boolean => isSignedBy(response, digest, key);
  const issuerKey = keyOf(issuer);
  if (issuerKey === undefined) return 'unchecked';
  if (signedBy(issuerKey)) return 'issuer';
  const delegated = response.certificates.some((der) => {
    const responder = certificateOf(der);
    const key = responder === undefined ? undefined : keyOf(responder);
    return (
      responder !== undefined &&
      key !== undefined &&
      mayAnswer(responder, issuer, nowMs) &&
      isIssuedBy(responder, issuerKey) &&
      signedBy(key)
    );
  });
  return delegated ? 'responder' : 'invalid';
}

/** Digests by the OID of a signature algorithm; `null` if the algorithm implies its digest. */
const SIGNATURE_DIGESTS: Readonly<Record<string, string | null>> = {
  '1.2.840.113549.1.1.5': 'sha1',
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
  '1.3.101.112': null,
  '1.3.101.113': null,
};

const OCSP_SIGNING = '1.3.6.1.5.5.7.3.9';

function mayAnswer(responder: X509Certificate, issuer: X509Certificate, nowMs: number): boolean {
  return (
    responder.issuer === issuer.subject &&
    (responder.keyUsage ?? []).includes(OCSP_SIGNING) &&
    responder.validFromDate.getTime() <= nowMs &&
    responder.validToDate.getTime() >= nowMs
  );
}

/** Keys and signatures of other parties may be of kinds that OpenSSL rejects; then the signature counts as wrong. */
function isSignedBy({ signed, signature }: OcspResponse, digest: string | null, key: KeyObject): boolean {
  try {
    return verify(digest, signed, key, signature);
  } catch {
    return false;
  }
}

function isIssuedBy(certificate: X509Certificate, key: KeyObject): boolean {
  try {
    return certificate.verify(key);
  } catch {
    return false;
  }
}

function keyOf(certificate: X509Certificate): KeyObject | undefined {
  try {
    return certificate.publicKey;
  } catch {
    return undefined;
  }
}

function certificateOf(der: Uint8Array): X509Certificate | undefined {
  try {
    return new X509Certificate(der);
  } catch {
    return undefined;
  }
}
