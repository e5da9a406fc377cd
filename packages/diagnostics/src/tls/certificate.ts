import { X509Certificate } from 'node:crypto';
import { checkServerIdentity, type DetailedPeerCertificate, type PeerCertificate } from 'node:tls';

import { boundText, jsonBytes } from '../bounded-text.ts';
import { MAX_ALT_NAMES, MAX_CHAIN, type Tls, type TlsFields } from './schema.ts';

export type CertificateFields = Omit<TlsFields, 'sslVersion' | 'tls'>;
type ChainCertificate = Tls['chain'][number];

/** One certificate of a chain. */
export interface Certificate {
  readonly parsed: X509Certificate;
  /** Such as `rsa`, `ec`; `null` for a key of a kind that OpenSSL does not know. */
  readonly keyType: string | null;
  readonly keyBits: number | null;
}

/**
 * The chain from the server's own certificate up, each below the one that issued it, whatever the order it was sent in, and
 * the trusted root; bounded, and safe against circles.
 *
 * @param leaf as `getPeerCertificate(true)` gives it. Two traps of Node 24: `getPeerX509Certificate` loses five kilobytes with
 *   each call, and `getPeerCertificate` ends the process at a public key that OpenSSL cannot read. The latter is safe once a
 *   handshake has come past the server's certificate: OpenSSL has read its key then, and links no issuer without one.
 */
export function chainOf(leaf: DetailedPeerCertificate): readonly Certificate[] {
  const chain: Certificate[] = [];
  const seen = new Set<string>();
  let next: DetailedPeerCertificate | undefined = leaf;
  while (next?.raw !== undefined && !seen.has(next.fingerprint256) && chain.length < MAX_CHAIN) {
    seen.add(next.fingerprint256);
    chain.push(certificateOf(next.raw));
    next = next.issuerCertificate;
  }
  return chain;
}

/** @param der one certificate in DER */
export function certificateOf(der: Buffer): Certificate {
  const parsed = new X509Certificate(der);
  return { parsed, ...keyOf(parsed) };
}

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

/** True where the certificate is for the host, by the rules of Node (RFC 9525, and the common name where there is no other). */
export function isFor(host: string, { parsed }: Certificate): boolean {
  const identity = { subject: { CN: attributeOf(parsed.subject, 'CN') }, subjectaltname: parsed.subjectAltName };
  try {
    // Node looks at nothing else of it.
    return checkServerIdentity(host, identity as PeerCertificate) === undefined;
  } catch {
    // Alternative names that Node cannot take apart.
    return false;
  }
}

/** Describes a chain; alternative names take 8 KiB at most over all of it. */
export function describeChain(chain: readonly Certificate[]): ChainCertificate[] {
  let left = 8 * 1024;
  return chain.map(({ parsed, keyType, keyBits }) => {
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
      keyType,
      keyBits,
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
  return chain.some(({ parsed, keyType, keyBits }) => {
    const minimum = { rsa: 2048, 'rsa-pss': 2048, dsa: 2048, ec: 224 }[keyType ?? ''] ?? 0;
    if (keyBits !== null && keyBits < minimum) return true;
    // Nobody relies on the signature of a root, which is its own.
    return parsed.subject !== parsed.issuer && /md[245]|sha-?1(?!\d)/i.test(parsed.signatureAlgorithm ?? '');
  });
}

/**
 * True for a certificate that says where that of its issuer can be had (RFC 5280 section 4.2.2.1), as those of public
 * authorities do: their issuer is an intermediate that belongs into the handshake. Private roots say nothing of the kind.
 */
export function pointsToIssuer({ parsed }: Certificate): boolean {
  return parsed.infoAccess?.includes('CA Issuers - URI:') ?? false;
}

function keyOf(certificate: X509Certificate): Pick<Certificate, 'keyType' | 'keyBits'> {
  try {
    const { asymmetricKeyType: keyType, asymmetricKeyDetails: details } = certificate.publicKey;
    // The names of curves have their size in them: prime256v1, secp521r1. Those of RFC 7748 have one size each.
    const curveBits = /\d{3}/.exec(details?.namedCurve ?? EDWARDS_BITS[keyType ?? ''] ?? '')?.[0];
    const keyBits = details?.modulusLength ?? (curveBits === undefined ? null : Number(curveBits));
    return { keyType: keyType ?? null, keyBits };
  } catch {
    // A key of a kind that OpenSSL does not know.
    return { keyType: null, keyBits: null };
  }
}

const EDWARDS_BITS: Readonly<Record<string, string>> = { ed25519: '256', ed448: '456' };

/** Node writes one attribute per line, the most general first. */
function distinguishedName(lines: string | undefined): string {
  return boundText((lines ?? '').split('\n').join(', '), 512);
}

/** The first value of an attribute, with the escapes of RFC 4514 section 2.4 undone; several may stand in one line. */
function attributeOf(lines: string | undefined, type: string): string | undefined {
  const attributes = (lines ?? '').split('\n').flatMap((line) => line.split(/ \+ (?=[\w.]+=)/));
  const value = attributes.find((attribute) => attribute.startsWith(`${type}=`))?.slice(type.length + 1);
  return value === undefined || value === '' ? undefined : value.replaceAll(/\\([\dA-F]{2}|.)/gs, unescaped);
}

function unescaped(_all: string, escape: string): string {
  return escape.length === 2 ? String.fromCharCode(Number.parseInt(escape, 16)) : escape;
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
