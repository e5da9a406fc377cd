import type { Failure, FailureCode } from '@vantage/contract';

import { boundText } from '../../shared/bounded-text.ts';
import { classifyCertificate } from '../../shared/classify-error.ts';
import { issuerUrlOf, labelOf, type Certificate } from '../certificate/certificate.ts';
import { extensionOids } from '../certificate/certificate-body.ts';
import { hostMismatch } from '../certificate/host-names.ts';
import { linkFaults, type LinkFault } from './link-faults.ts';
import { isRevoked, type Ocsp } from '../certificate/ocsp.ts';
import { isSelfSigned, type Path } from '../certificate/path.ts';
import { MAX_REASON_BYTES } from '../chromium-schema.ts';
import { MAX_FAULTS, type Tls } from '../schema.ts';
import { keyWeakness, signatureWeakness } from '../certificate/strength.ts';

export type CertificateFault = NonNullable<Tls['faults']>[number];

/** OpenSSL's verification result of a chain: Node reports the last error only. */
export interface Verification {
  /** Name of the result without `X509_V_ERR_`; `UNSPECIFIED` for the many that Node has no name for. */
  readonly code: string;
  /** The message of OpenSSL. */
  readonly message: string;
}

export interface VerifiedChain {
  readonly host: string;
  readonly path: Path;
  /** `null` if OpenSSL accepts the chain. */
  readonly verification: Verification | null;
  readonly ocsp: Ocsp;
  readonly nowMs: number;
}

/** The order in which faults are named, the most basic first. */
const ORDER: readonly FailureCode[] = [
  'tls_self_signed',
  'tls_missing_intermediate',
  'tls_unknown_issuer',
  'tls_expired',
  'tls_not_yet_valid',
  'tls_untrusted',
  'tls_revoked',
  'tls_hostname_mismatch',
  'tls_weak_key',
];

/**
 * The first `MAX_FAULTS` faults of the certificate of a server and of those above it, the most basic first. OpenSSL
 * alone decides whether a chain is trusted; this finds the reasons for a refusal, and adds revocation, the name of the
 * host and the strength of keys and signatures.
 */
export function certificateFaults(chain: VerifiedChain): CertificateFault[] {
  const { path, ocsp, host } = chain;
  const [leaf] = path.certificates as readonly [Certificate];
  const mismatch = hostMismatch(host, leaf.serverNames);
  const all = [
    ...chainFaults(chain),
    ...(isRevoked(ocsp) ? [named(path, 'tls_revoked', 0, 'is revoked')] : []),
    ...(mismatch === null
      ? []
      : [fault('tls_hostname_mismatch', 0, `The certificate is not for this host: ${mismatch}.`)]),
    ...weaknesses(path),
  ];
  const sorted = all.toSorted((a, b) => ORDER.indexOf(a.code) - ORDER.indexOf(b.code));
  return sorted.slice(0, MAX_FAULTS);
}

/**
 * Failure of a check that verifies certificates: the first fault, the number of further reasons, and the codes of the
 * other faults; null without faults.
 */
export function distrustOf([first, ...more]: readonly CertificateFault[]): Failure | null {
  if (first === undefined) return null;
  const others = new Set(more.map(({ reason }) => reason)).size;
  const rest =
    others === 0
      ? ''
      : ` ${others === 1 ? 'One more fault' : `${others} more faults`}: ${more.map(({ code }) => code).join(', ')}.`;
  return { code: first.code, phase: 'tls', source: 'target', message: `${first.reason}${rest}` };
}

function chainFaults({ path, verification, nowMs }: VerifiedChain): readonly CertificateFault[] {
  if (verification === null) return [];
  const links = linkFaults(path, nowMs);
  const end = endFault(path);
  const known = [
    ...(end === null ? [] : [end]),
    ...links.map((link) => named(path, link.code, link.certificate, link.reason)),
  ];
  return isExplained(verification, links, end) ? known : [...known, unexplained(path, verification)];
}

const END_RESULTS = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_UNTRUSTED',
]);

function isExplained(
  { code, message }: Verification,
  links: readonly LinkFault[],
  end: CertificateFault | null,
): boolean {
  if (END_RESULTS.has(code)) return end !== null;
  return links.some(
    ({ explains }) => explains.includes(code) || explains.includes(message.toLowerCase()) || explains.includes(message),
  );
}

/** Why a path does not end at a trusted certificate; null if it does. */
function endFault(path: Path): CertificateFault | null {
  if (path.isAnchored) return null;
  const { certificates } = path;
  const at = certificates.length - 1;
  const last = certificates[at]!;
  if (isSelfSigned(last)) {
    return at === 0
      ? fault('tls_self_signed', 0, 'The certificate is self-signed and not trusted.')
      : named(path, 'tls_unknown_issuer', at, 'is a root that is not trusted');
  }
  const issuer = quoted(last.parsed.issuer);
  const url = issuerUrlOf(last);
  if (url === null)
    return named(path, 'tls_unknown_issuer', at, `was issued by ${issuer}, which was not sent and is not trusted`);
  return named(
    path,
    'tls_missing_intermediate',
    at,
    `was issued by ${issuer}, which the server did not send (${boundText(url, 100)} has it) and which is no trusted root`,
  );
}

function quoted(lines: string | undefined): string {
  const name = /^CN=(.*)$/m.exec(lines ?? '')?.[1] ?? (lines ?? '').split('\n').join(', ');
  return `“${boundText(name, 60)}”`;
}

/** A result of OpenSSL that no detected fault explains. */
function unexplained(path: Path, { code, message }: Verification): CertificateFault {
  if (END_RESULTS.has(code)) {
    const other =
      ', though what was sent also leads to a trusted root: clients that try every path, as browsers do, may accept it';
    return fault(
      'tls_unknown_issuer',
      null,
      `OpenSSL ends at an issuer that is not trusted${path.isSound ? other : ''}.`,
    );
  }
  const constrained = path.certificates.findIndex(({ body }) =>
    body?.extensions.some(({ oid }) => oid === extensionOids.nameConstraints),
  );
  if (/subtree|constraint/i.test(message) && constrained !== -1) {
    return named(
      path,
      'tls_untrusted',
      constrained,
      `may not issue for this name, by its name constraints (${message})`,
    );
  }
  const failure = classifyCertificate(code, message);
  return fault(failure.code, null, failure.message);
}

/** The self-signature of a root at the end of a path does not count. */
function weaknesses(path: Path): readonly CertificateFault[] {
  return path.certificates.flatMap((certificate, at) => {
    const isEnd = at === path.certificates.length - 1;
    const key = keyWeakness(certificate);
    const signature = isEnd && (path.isAnchored || isSelfSigned(certificate)) ? null : signatureWeakness(certificate);
    return [
      ...(key === null ? [] : [named(path, 'tls_weak_key', at, `has a key that is too weak: ${key}`)]),
      ...(signature === null
        ? []
        : [named(path, 'tls_weak_key', at, `has a signature that is too weak: ${signature}`)]),
    ];
  });
}

function named(path: Path, code: CertificateFault['code'], position: number, reason: string): CertificateFault {
  const subject =
    position === 0
      ? 'The certificate'
      : `“${boundText(labelOf(path.certificates[position]!), 60)}” above the certificate`;
  return fault(code, position, `${subject} ${reason}.`);
}

function fault(code: CertificateFault['code'], certificate: number | null, reason: string): CertificateFault {
  return { code, certificate, reason: boundText(reason, MAX_REASON_BYTES) };
}
