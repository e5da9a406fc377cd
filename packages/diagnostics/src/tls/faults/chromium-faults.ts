import { boundText } from '../../shared/bounded-text.ts';
import { labelOf, type Certificate } from '../certificate/certificate.ts';
import { SERVER_AUTHENTICATION, SERVER_PURPOSES } from './link-faults.ts';
import { isSelfSigned, type Path } from '../certificate/path.ts';
import { MAX_CHROMIUM_FAULTS, MAX_REASON_BYTES } from '../chromium-schema.ts';
import type { Tls } from '../schema.ts';
import { signatureNameOf, signatureWeakness } from '../certificate/strength.ts';
import type { TrustAnchors } from '../certificate/trust-store.ts';

export type ChromiumFault = NonNullable<Tls['chromiumFaults']>[number];

export interface PresentedChain {
  readonly path: Path;
  readonly anchors: TrustAnchors;
  /** True if the server signs in the handshake: with a key exchange by RSA it only decrypts. */
  readonly isSigning: boolean;
}

/**
 * The first `MAX_CHROMIUM_FAULTS` faults for which Chromium refuses certificates that OpenSSL accepts. No test compares
 * the rule of the validity with Chromium, because that takes the key of a public authority.
 */
export function chromiumFaults({ path, anchors, isSigning }: PresentedChain): ChromiumFault[] {
  const { certificates } = path;
  const reasons = certificates.flatMap((certificate, position) => {
    const isEnd = position === certificates.length - 1 && (path.isAnchored || isSelfSigned(certificate));
    const found = [
      position === 0 ? leafKeyFault(certificate) : authorityKeyFault(certificate),
      isEnd ? null : signatureFault(certificate),
      ...(position === 0 ? [usageFault(certificate, isSigning), purposeFault(certificate)] : []),
      position === 0 && isPublic(path, anchors) ? validityFault(certificate) : null,
    ];
    return found.flatMap((reason) => (reason === null ? [] : [{ certificate: position, reason }]));
  });
  return reasons.slice(0, MAX_CHROMIUM_FAULTS).map(({ certificate, reason }) => {
    const subject =
      certificate === 0
        ? 'The certificate'
        : `“${boundText(labelOf(certificates[certificate]!), 60)}” above the certificate`;
    return { certificate, reason: boundText(`${subject} ${reason}.`, MAX_REASON_BYTES) };
  });
}

/** Curves that Chromium accepts in signatures of certificates. */
const CURVES = ['prime256v1', 'secp384r1', 'secp521r1'];
/** Curves that Chromium accepts in signatures of a handshake: it does not offer `ecdsa_secp521r1_sha512`. */
const HANDSHAKE_CURVES = CURVES.slice(0, 2);

function leafKeyFault(certificate: Certificate): string | null {
  const key = unusableKey(certificate, HANDSHAKE_CURVES);
  if (key === null) return null;
  return `has a key (${key}) with which Chromium makes no TLS connection: it cannot connect, unless the server shows it another certificate`;
}

function authorityKeyFault(certificate: Certificate): string | null {
  const key = unusableKey(certificate, CURVES);
  return key === null ? null : `has a key (${key}) that Chromium does not take`;
}

function unusableKey({ keyType, publicKey }: Certificate, curves: readonly string[]): string | null {
  if (keyType === null || keyType === 'rsa') return null;
  if (keyType !== 'ec') return keyType;
  const curve = publicKey?.asymmetricKeyDetails?.namedCurve ?? 'without a name';
  return curves.includes(curve) ? null : `elliptic curve ${curve}`;
}

/**
 * OIDs of the signatures that Chromium takes: RSA PKCS #1 and ECDSA with SHA-256, SHA-384 and SHA-512. It refuses those
 * of Edwards curves, but they are reported as a fault of the issuer's key, and so are listed here too.
 */
const SIGNATURES = new Set([
  '1.2.840.113549.1.1.11',
  '1.2.840.113549.1.1.12',
  '1.2.840.113549.1.1.13',
  '1.2.840.10045.4.3.2',
  '1.2.840.10045.4.3.3',
  '1.2.840.10045.4.3.4',
  '1.3.101.112',
  '1.3.101.113',
]);
/** OIDs of the hashes that Chromium takes in signatures by RSASSA-PSS: SHA-256, SHA-384 and SHA-512. */
const HASHES = new Set(['2.16.840.1.101.3.4.2.1', '2.16.840.1.101.3.4.2.2', '2.16.840.1.101.3.4.2.3']);

function signatureFault(certificate: Certificate): string | null {
  const signature = certificate.body?.signature;
  if (signature === undefined || signatureWeakness(certificate) !== null) return null;
  const isTaken = signature.hash === null ? SIGNATURES.has(signature.oid) : HASHES.has(signature.hash);
  return isTaken ? null : `has a signature (${signatureNameOf(certificate)}) that Chromium does not take`;
}

/** The bit digitalSignature of keyUsage. */
const DIGITAL_SIGNATURE = 0;
/** Bits of keyUsage that OpenSSL accepts in place of digitalSignature: keyEncipherment and keyAgreement. */
const OTHER_TLS_USAGES = [2, 4];

function usageFault({ keyUsages }: Certificate, isSigning: boolean): string | null {
  if (!isSigning || keyUsages === null || keyUsages.has(DIGITAL_SIGNATURE)) return null;
  if (!OTHER_TLS_USAGES.some((usage) => keyUsages.has(usage))) return null;
  return 'may not sign by its key usage, and the server signs the handshake with it: Chromium ends it there';
}

function purposeFault({ purposes }: Certificate): string | null {
  if (purposes === null || purposes.includes(SERVER_AUTHENTICATION)) return null;
  return purposes.some((purpose) => SERVER_PURPOSES.has(purpose))
    ? 'is meant for servers only by a purpose of old that Chromium does not take'
    : null;
}

function isPublic({ isAnchored, certificates }: Path, anchors: TrustAnchors): boolean {
  return isAnchored && anchors.isPublic(certificates.at(-1)!);
}

/**
 * Longest validity in days of a certificate whose validity begins on this day or later, the latest first (CA/Browser
 * Forum, Baseline Requirements, section 6.3.2), as in the program of Chromium 156.
 */
const LONGEST = [
  { since: '2029-03-15', days: 47 },
  { since: '2027-03-15', days: 100 },
  { since: '2026-03-15', days: 200 },
  { since: '2020-09-01', days: 398 },
] as const;

function validityFault({ parsed }: Certificate): string | null {
  const [from, until] = [parsed.validFromDate.getTime(), parsed.validToDate.getTime()];
  const days = (until - from) / 86_400_000;
  const longest = LONGEST.find(({ since }) => from >= Date.parse(since));
  if (longest === undefined || !(days > longest.days)) return null;
  return `is valid for ${Math.ceil(days)} days, and Chromium takes ${longest.days} at most from a public authority since ${longest.since}`;
}
