import { createHash, type KeyObject } from 'node:crypto';

import { boundText, jsonBytes } from '../../shared/bounded-text.ts';
import { attributeOf, type Certificate } from './certificate.ts';
import { MAX_ALT_NAMES, MAX_CHAIN, type Tls, type TlsFields } from '../schema.ts';
import { signatureNameOf } from './strength.ts';

export type CertificateFields = Omit<TlsFields, 'sslVersion' | 'tls'>;
type ChainCertificate = Tls['chain'][number];

/** The fields of a result about the server's own certificate. */
export function certificateFieldsOf({ parsed }: Certificate): CertificateFields {
  const [firstName] = altNames(parsed.subjectAltName);
  const subject = attributeOf(parsed.subject, 'CN') ?? firstName?.replace(/^[A-Za-z ]+:/, '');
  const issuer = attributeOf(parsed.issuer, 'O') ?? attributeOf(parsed.issuer, 'CN');
  return {
    sslSubject: subject === undefined ? null : boundText(subject, 256),
    sslIssuer: issuer === undefined ? null : boundText(issuer, 256),
    sslValidFrom: timestamp(parsed.validFromDate),
    sslValidUntil: timestamp(parsed.validToDate),
  };
}

/** Describes the first `MAX_CHAIN` certificates of a chain; all alternative names together take at most 8 KiB. */
export function describeChain(chain: readonly Certificate[]): ChainCertificate[] {
  let left = 8 * 1024;
  return chain.slice(0, MAX_CHAIN).map((certificate) => {
    const { parsed, publicKey, keyType, keyBits } = certificate;
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
      ...(publicKey === null ? {} : { publicKey256: fingerprintOf(publicKey) }),
      subjectAltNames,
      subjectAltNameCount: names.length,
      keyType,
      keyBits,
      signatureAlgorithm: signatureNameOf(certificate),
    };
  });
}

/** SHA-256 of a public key, in the form of the fingerprint of a certificate. */
function fingerprintOf(publicKey: KeyObject): string {
  const bytes = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest();
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0').toUpperCase()).join(':');
}

/** Formats a distinguished name, which Node writes with one relative name per line, in the order of the certificate. */
function distinguishedName(lines: string | undefined): string {
  return boundText((lines ?? '').split('\n').join(', '), 512);
}

/**
 * Splits `DNS:a, IP Address:b, URI:"c\u002cd"`: Node writes a name with odd characters, a comma too, as a JSON string.
 */
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

/**
 * Whole days until a certificate expires, by the clock of the probe; null if its end is no date. Once it has expired:
 * whole days since then, negative, and −1 on the first day too.
 */
export function daysLeft({ parsed }: Certificate, nowMs: number): number | null {
  const days = (parsed.validToDate.getTime() - nowMs) / 86_400_000;
  if (Number.isNaN(days)) return null;
  return days < 0 ? Math.min(-1, Math.ceil(days)) : Math.floor(days);
}

/** Common name of a certificate, else its whole subject. */
export function displayName(certificate: Certificate): string {
  return boundText(attributeOf(certificate.parsed.subject, 'CN') ?? distinguishedName(certificate.parsed.subject), 80);
}
