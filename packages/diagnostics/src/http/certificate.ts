import { X509Certificate } from 'node:crypto';
import type { DetailedPeerCertificate } from 'node:tls';

import { boundText, jsonBytes } from './bounded-text.ts';
import { MAX_ALT_NAMES, MAX_CHAIN } from './tls-contract.ts';

export interface CertificateFields {
  sslSubject: string | null;
  sslIssuer: string | null;
  sslValidFrom: string | null;
  sslValidUntil: string | null;
}

export interface ChainCertificate {
  subject: string;
  issuer: string;
  validFrom: string | null;
  validUntil: string | null;
  serialNumber: string;
  fingerprint256: string;
  subjectAltNames: string[];
  subjectAltNameCount: number;
  keyType: string | null;
  keyBits: number | null;
}

/** One certificate of a presented chain, in both forms that Node has of it. */
export interface Certificate {
  readonly parsed: X509Certificate;
  readonly legacy: DetailedPeerCertificate;
}

/** The chain from the server's own certificate up, as Node links it; bounded, and safe against circles. */
export function chainOf(leaf: DetailedPeerCertificate): readonly Certificate[] {
  const chain: Certificate[] = [];
  const seen = new Set<string>();
  let next: DetailedPeerCertificate | undefined = leaf;
  while (next?.raw !== undefined && !seen.has(next.fingerprint256) && chain.length < MAX_CHAIN) {
    seen.add(next.fingerprint256);
    chain.push({ parsed: new X509Certificate(next.raw), legacy: next });
    next = next.issuerCertificate;
  }
  return chain;
}

/** The fields of a result about the server's own certificate. */
export function certificateFieldsOf({ parsed, legacy }: Certificate): CertificateFields {
  const [firstName] = altNames(parsed.subjectAltName);
  const subject = first(legacy.subject.CN) ?? firstName?.replace(/^[A-Za-z ]+:/, '');
  const issuer = first(legacy.issuer.O) ?? first(legacy.issuer.CN);
  return {
    sslSubject: subject === undefined ? null : boundText(subject, 256),
    sslIssuer: issuer === undefined ? null : boundText(issuer, 256),
    sslValidFrom: timestamp(parsed.validFromDate),
    sslValidUntil: timestamp(parsed.validToDate),
  };
}

/** Describes a chain; alternative names take 8 KiB at most over all of it. */
export function describeChain(chain: readonly Certificate[]): ChainCertificate[] {
  let left = 8 * 1024;
  return chain.map(({ parsed, legacy }) => {
    const names = altNames(parsed.subjectAltName);
    const subjectAltNames = names.slice(0, MAX_ALT_NAMES).flatMap((name) => {
      const shown = boundText(name, 256);
      left -= jsonBytes(shown);
      return left < 0 ? [] : [shown];
    });
    return {
      subject: distinguishedName(parsed.subject),
      issuer: distinguishedName(parsed.issuer),
      validFrom: timestamp(parsed.validFromDate),
      validUntil: timestamp(parsed.validToDate),
      serialNumber: boundText(parsed.serialNumber, 64),
      fingerprint256: parsed.fingerprint256,
      subjectAltNames,
      subjectAltNameCount: names.length,
      keyType: keyType(parsed),
      keyBits: legacy.bits ?? edwardsBits(keyType(parsed)),
    };
  });
}

/** Whole days until a certificate expires, by the clock of the probe. */
export function daysLeft({ parsed }: Certificate, nowMs: number): number | null {
  const days = Math.floor((parsed.validToDate.getTime() - nowMs) / 86_400_000);
  return Number.isFinite(days) ? days : null;
}

/**
 * True where a key or signature of the chain has less than the 112 bits of strength that OpenSSL asks for at its level
 * 2. The connection is made at level 0, so that old servers can be measured; the verdict is ours then.
 */
export function hasWeakKey(chain: readonly Certificate[]): boolean {
  return chain.some(({ parsed, legacy }) => {
    const minimum = { rsa: 2048, 'rsa-pss': 2048, dsa: 2048, ec: 224 }[keyType(parsed) ?? ''] ?? 0;
    if (legacy.bits !== undefined && legacy.bits < minimum) return true;
    // Nobody relies on the signature of a root, which is its own.
    return parsed.subject !== parsed.issuer && /md[245]|sha-?1(?!\d)/i.test(parsed.signatureAlgorithm ?? '');
  });
}

function keyType(certificate: X509Certificate): string | null {
  try {
    return certificate.publicKey.asymmetricKeyType ?? null;
  } catch {
    // A key of a kind that OpenSSL does not know.
    return null;
  }
}

/** RFC 7748: the curves of Edwards keys have one size each. */
function edwardsBits(type: string | null): number | null {
  if (type === 'ed25519') return 256;
  return type === 'ed448' ? 456 : null;
}

/** Node writes one attribute per line, the most general first. */
function distinguishedName(lines: string | undefined): string {
  return boundText((lines ?? '').split('\n').join(', '), 512);
}

/** Node types an attribute that occurs several times as one string, but gives an array. */
function first(attribute: string | readonly string[] | undefined): string | undefined {
  const value = typeof attribute === 'string' ? attribute : attribute?.[0];
  return value === '' ? undefined : value;
}

/** Splits `DNS:a, IP Address:b, URI:"c\u002cd"`: Node writes a name with odd characters, a comma too, as a JSON string. */
function altNames(text: string | undefined): string[] {
  return text === undefined || text === '' ? [] : text.split(', ').map(unquoted);
}

function unquoted(name: string): string {
  const quoted = /^([^":]+:)(".*")$/s.exec(name);
  if (quoted === null) return name;
  try {
    return `${quoted[1]}${String(JSON.parse(quoted[2]!))}`;
  } catch {
    return name;
  }
}

function timestamp(date: Date): string | null {
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
