import { boundText } from '../../shared/bounded-text.ts';
import { isSignedBy, labelOf, type Certificate } from '../certificate/certificate.ts';
import { extensionOids } from '../certificate/certificate-body.ts';
import type { Path } from '../certificate/path.ts';

/** A reason for which OpenSSL rejects a certificate of a path, reproduced by this code. */
export interface LinkFault {
  readonly code: 'tls_expired' | 'tls_not_yet_valid' | 'tls_untrusted';
  /** Position in the path, 0 for the server's own. */
  readonly certificate: number;
  /** End of a sentence that begins with the name of the certificate. */
  readonly reason: string;
  /** Names and texts of the results of OpenSSL that this fault explains. */
  readonly explains: readonly string[];
}

type Fault = Omit<LinkFault, 'certificate'>;

/**
 * Faults of the certificates of a path, as defined by RFC 5280 section 6.1 and OpenSSL, whether or not the path is
 * anchored.
 */
export function linkFaults({ certificates }: Path, nowMs: number): readonly LinkFault[] {
  return certificates.flatMap((certificate, position) => {
    const faults = [
      ...validityFaults(certificate, nowMs),
      ...(position === 0 ? leafFaults(certificate) : authorityFaults(certificates, position)),
      ...purposeFaults(certificate),
      ...formFaults(certificate),
      ...signatureFaults(certificate, certificates[position + 1]),
    ];
    return faults.map((fault) => ({ ...fault, certificate: position }));
  });
}

function validityFaults({ parsed }: Certificate, nowMs: number): readonly Fault[] {
  const [from, until] = [parsed.validFromDate.getTime(), parsed.validToDate.getTime()];
  const day = (time: number): string => new Date(time).toISOString().slice(0, 10);
  if (Number.isNaN(from)) return [untrusted('has no date as its start of validity', 'ERROR_IN_CERT_NOT_BEFORE_FIELD')];
  if (Number.isNaN(until)) return [untrusted('has no date as its end of validity', 'ERROR_IN_CERT_NOT_AFTER_FIELD')];
  if (from > nowMs) {
    return [{ code: 'tls_not_yet_valid', reason: `is valid only from ${day(from)}`, explains: ['CERT_NOT_YET_VALID'] }];
  }
  if (until >= nowMs) return [];
  return [{ code: 'tls_expired', reason: `was valid until ${day(until)}`, explains: ['CERT_HAS_EXPIRED'] }];
}

/** Bits of keyUsage that allow a TLS server: digitalSignature, keyEncipherment, keyAgreement. */
const TLS_KEY_USAGES = [0, 2, 4];
/** The bit keyCertSign of keyUsage. */
const CERTIFICATE_SIGNING = 5;

function leafFaults({ keyUsages }: Certificate): readonly Fault[] {
  if (keyUsages === null || TLS_KEY_USAGES.some((usage) => keyUsages.has(usage))) return [];
  return [untrusted('is not meant for TLS by its key usage', 'INVALID_PURPOSE')];
}

function authorityFaults(certificates: readonly Certificate[], position: number): readonly Fault[] {
  const { constraints, keyUsages, subject, issuer } = certificates[position]!;
  const isTop = position === certificates.length - 1 && subject === issuer;
  const faults: Fault[] = [];
  if (!(constraints?.ca ?? isTop)) {
    faults.push(untrusted('may not issue certificates (no CA by its basic constraints)', ...NO_AUTHORITY));
  }
  if (keyUsages !== null && !keyUsages.has(CERTIFICATE_SIGNING)) {
    faults.push(untrusted('may not sign certificates by its key usage', ...NO_AUTHORITY));
  }
  // The limit of the path length does not count self-issued certificates (RFC 5280 section 4.2.1.9).
  const below = certificates.slice(1, position).filter((one) => one.subject !== one.issuer).length;
  const allowed = constraints?.pathLength ?? null;
  if (allowed !== null && below > allowed) {
    faults.push(untrusted(`allows ${allowed} authorities below it, and there are ${below}`, 'PATH_LENGTH_EXCEEDED'));
  }
  return faults;
}

const NO_AUTHORITY = [
  'INVALID_CA',
  'INVALID_PURPOSE',
  'invalid CA certificate',
  'key usage does not include certificate signing',
];

export const SERVER_AUTHENTICATION = '1.3.6.1.5.5.7.3.1';
/** Extended key usages of a server: serverAuth, and the two of `XKU_SGC`, which OpenSSL accepts instead. */
export const SERVER_PURPOSES: ReadonlySet<string> = new Set([
  SERVER_AUTHENTICATION,
  '1.3.6.1.4.1.311.10.3.3',
  '2.16.840.1.113730.4.1',
]);

function purposeFaults({ purposes }: Certificate): readonly Fault[] {
  if (purposes === null || purposes.some((purpose) => SERVER_PURPOSES.has(purpose))) return [];
  return [untrusted('is not meant for servers by its extended key usage', 'INVALID_PURPOSE')];
}

/** Extensions that OpenSSL supports (`X509_supported_extension`): it rejects a certificate with other critical ones. */
const KNOWN_EXTENSIONS = new Set<string>([
  ...Object.values(extensionOids).filter((oid) => oid !== extensionOids.tlsFeature),
  '2.5.29.31',
  '2.5.29.32',
  '2.5.29.33',
  '2.5.29.36',
  '2.5.29.54',
  '1.3.6.1.5.5.7.1.7',
  '1.3.6.1.5.5.7.1.8',
  '1.3.6.1.5.5.7.1.14',
  '1.3.6.1.5.5.7.48.1.5',
  '2.16.840.1.113730.1.1',
]);

function formFaults({ body }: Certificate): readonly Fault[] {
  if (body === null) return [];
  const unknown = body.extensions.filter(({ oid, critical }) => critical && !KNOWN_EXTENSIONS.has(oid));
  const faults = unknown.map(({ oid }) =>
    untrusted(`has a critical extension that is not known (${oid})`, 'unhandled critical extension'),
  );
  if (!body.hasExplicitCurve) return faults;
  return [
    ...faults,
    untrusted(
      'has explicit EC parameters in place of a named curve',
      'certificate public key has explicit ecc parameters',
    ),
  ];
}

function signatureFaults(certificate: Certificate, issuer: Certificate | undefined): readonly Fault[] {
  if (issuer === undefined || isSignedBy(certificate, issuer)) return [];
  const reason = `does not bear a valid signature of “${boundText(labelOf(issuer), 60)}”`;
  return [
    untrusted(
      reason,
      'CERT_SIGNATURE_FAILURE',
      'UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY',
      'UNABLE_TO_DECRYPT_CERT_SIGNATURE',
    ),
  ];
}

function untrusted(reason: string, ...explains: readonly string[]): Fault {
  return { code: 'tls_untrusted', reason, explains };
}
