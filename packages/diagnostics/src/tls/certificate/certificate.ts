import { hash, X509Certificate, type KeyObject } from 'node:crypto';

import { LRUCache } from 'lru-cache';

import {
  authorityKeyId,
  basicConstraints,
  demandsStaple,
  extendedKeyUsages,
  extensionOids,
  keyUsages,
  readCertificateBody,
  serverNames,
  subjectKeyId,
  type CertificateBody,
} from './certificate-body.ts';
import { DerError } from './der.ts';
import type { ServerNames } from './host-names.ts';

/** A parsed certificate. Nullable fields of extensions are `null` if the extension is absent or malformed. */
export interface Certificate {
  readonly parsed: X509Certificate;
  readonly fingerprint: string;
  /** Distinguished name in the form of `comparableName`; `issuer` likewise. */
  readonly subject: string;
  readonly issuer: string;
  /** `null` for a key that OpenSSL cannot read. */
  readonly publicKey: KeyObject | null;
  /** Kind of the public key, for example `rsa` or `ec`. */
  readonly keyType: string | null;
  readonly keyBits: number | null;
  readonly body: CertificateBody | null;
  readonly constraints: ReturnType<typeof basicConstraints> | null;
  readonly keyUsages: ReadonlySet<number> | null;
  readonly purposes: readonly string[] | null;
  readonly subjectKeyId: Uint8Array | null;
  readonly authorityKeyId: Uint8Array | null;
  readonly serverNames: ServerNames;
  /** True if the certificate requires OCSP stapling (RFC 7633). */
  readonly mustStaple: boolean;
}

/** Cache of parsed certificates: targets are measured repeatedly, and many share authorities. */
const certificates = new LRUCache<string, Certificate>({ max: 128 });
/** Larger certificates are not cached, because a parsed one takes several times its size. */
const MAX_KEPT_BYTES = 8 * 1024;
const signatures = new LRUCache<string, boolean>({ max: 1_000 });

/**
 * Parses a certificate, unless it is in the cache.
 *
 * @param der one certificate
 * @throws {Error} for bytes that OpenSSL does not accept as a certificate
 */
export function certificateOf(der: Buffer): Certificate {
  if (der.length > MAX_KEPT_BYTES) return readCertificate(der);
  const key = hash('sha256', der);
  const certificate = certificates.get(key) ?? readCertificate(der);
  certificates.set(key, certificate);
  return certificate;
}

function readCertificate(der: Buffer): Certificate {
  const parsed = new X509Certificate(der);
  const { subject, issuer } = parsed;
  const publicKey = publicKeyOf(parsed);
  const body = orNull(() => readCertificateBody(parsed.raw));
  const extension = <T>(oid: string, read: (value: Uint8Array) => T): T | null => {
    const found = body?.extensions.find((candidate) => candidate.oid === oid);
    return found === undefined ? null : orNull(() => read(found.value));
  };
  return {
    parsed,
    fingerprint: parsed.fingerprint256,
    subject: comparableName(subject),
    issuer: comparableName(issuer),
    publicKey,
    ...kindOf(publicKey),
    body,
    constraints: extension(extensionOids.basicConstraints, basicConstraints),
    keyUsages: extension(extensionOids.keyUsage, keyUsages),
    purposes: extension(extensionOids.extendedKeyUsage, extendedKeyUsages),
    subjectKeyId: extension(extensionOids.subjectKeyIdentifier, subjectKeyId),
    authorityKeyId: extension(extensionOids.authorityKeyIdentifier, authorityKeyId),
    serverNames: {
      commonName: attributeOf(subject, 'CN') ?? null,
      ...(extension(extensionOids.subjectAltName, serverNames) ?? { names: [], addresses: [] }),
    },
    mustStaple: extension(extensionOids.tlsFeature, demandsStaple) ?? false,
  };
}

/** True if `issuer` signed the certificate with its key. */
export function isSignedBy({ parsed, fingerprint }: Certificate, issuer: Certificate): boolean {
  const key = `${fingerprint} ${issuer.fingerprint}`;
  const isSigned = signatures.get(key) ?? verifies(parsed, issuer.publicKey);
  signatures.set(key, isSigned);
  return isSigned;
}

function verifies(parsed: X509Certificate, key: KeyObject | null): boolean {
  try {
    return key !== null && parsed.verify(key);
  } catch {
    // A kind of key or signature that OpenSSL does not verify.
    return false;
  }
}

/** Name of a certificate in messages: its common name, else its whole subject. */
export function labelOf({ parsed }: Certificate): string {
  return attributeOf(parsed.subject, 'CN') ?? (parsed.subject ?? 'no name').split('\n').join(', ');
}

/** URL of the issuer's certificate (RFC 5280 section 4.2.2.1); null if the certificate has none. */
export function issuerUrlOf({ parsed }: Certificate): string | null {
  return /^CA Issuers - URI:(.*)$/m.exec(parsed.infoAccess ?? '')?.[1] ?? null;
}

/**
 * The first value of an attribute in a name as Node writes it, where a line may have several attributes; the escapes of
 * RFC 4514 section 2.4 are undone. Undefined if there is none or if it is empty.
 */
export function attributeOf(lines: string | undefined, type: string): string | undefined {
  const attributes = (lines ?? '').split('\n').flatMap((line) => line.split(/ \+ (?=[\w.]+=)/));
  const value = attributes.find((attribute) => attribute.startsWith(`${type}=`))?.slice(type.length + 1);
  return value === undefined || value === '' ? undefined : value.replaceAll(/\\([\dA-F]{2}|.)/gs, unescaped);
}

function unescaped(_all: string, escape: string): string {
  return escape.length === 2 ? String.fromCharCode(Number.parseInt(escape, 16)) : escape;
}

/** Normalises names for a comparison that ignores case and the number of spaces (RFC 5280 section 7.1). */
export function comparableName(name: string | undefined): string {
  return (name ?? '').toLowerCase().replaceAll(/[ \t]+/g, ' ');
}

function publicKeyOf(certificate: X509Certificate): KeyObject | null {
  try {
    return certificate.publicKey;
  } catch {
    return null;
  }
}

function kindOf(key: KeyObject | null): Pick<Certificate, 'keyType' | 'keyBits'> {
  const details = key?.asymmetricKeyDetails;
  const keyType = key?.asymmetricKeyType ?? null;
  // The names of the usual curves contain their size: prime256v1, secp521r1.
  // Ed25519 and Ed448 (RFC 8032) have one size each.
  const curveBits = /\d{3}/.exec(details?.namedCurve ?? EDWARDS_BITS[keyType ?? ''] ?? '')?.[0];
  return { keyType, keyBits: details?.modulusLength ?? (curveBits === undefined ? null : Number(curveBits)) };
}

const EDWARDS_BITS: Readonly<Record<string, string>> = { ed25519: '256', ed448: '456' };

function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof DerError) return null;
    throw error;
  }
}
