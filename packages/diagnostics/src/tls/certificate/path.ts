import { isSignedBy, type Certificate } from './certificate.ts';
import type { TrustAnchors } from './trust-store.ts';

/** A chain from a server's own certificate up: each names the next as its issuer. */
export interface Path {
  readonly certificates: readonly Certificate[];
  /**
   * True if the path ends as `isEnd` of `buildPath` demands, by default at a trusted certificate that names itself as
   * its issuer.
   */
  readonly isAnchored: boolean;
  /**
   * True if it is anchored, each certificate is signed by the next, and all above the server's own are authorities and
   * valid at the time.
   */
  readonly isSound: boolean;
}

/** Limit of the certificates of a path: OpenSSL ends at 100 above the server's. */
const MAX_PATH = 101;
/** Limit of the certificates that are visited in a search, which bounds the work for equal names. */
const MAX_STEPS = 1_000;
/** Limit of the signatures that are verified, each of which may take milliseconds. */
const MAX_SIGNATURES = 200;

export type IsEnd = (certificate: Certificate) => boolean;

/** Requirements for a link, strictest first: weaker ones still display a chain that no client accepts. */
type Demand = 'sound' | 'signed' | 'named';

/**
 * Orders the certificates of a server, and finds the trusted one above them. It prefers trusted certificates to sent
 * ones, and takes the latter in the order in which they were sent.
 *
 * @param sent all certificates of the server, its own first
 * @param isEnd true for a certificate at which a path may end; by default for roots that are trusted
 */
export function buildPath(
  sent: readonly Certificate[],
  anchors: TrustAnchors,
  nowMs: number,
  isEnd: IsEnd = (last) => anchors.includes(last) && last.subject === last.issuer,
): Path {
  const [leaf] = sent as readonly [Certificate];
  const links = createLinks(sent, anchors, nowMs);
  for (const demand of ['sound', 'signed', 'named'] as const) {
    const certificates = search(leaf, (certificate) => links.above(certificate, demand), isEnd).anchored;
    if (certificates !== null) return { certificates, isAnchored: true, isSound: demand === 'sound' };
  }
  const longest = (demand: Demand): readonly Certificate[] =>
    search(leaf, (certificate) => links.above(certificate, demand), isEnd).longest;
  const [signed, named] = [longest('signed'), longest('named')];
  return { certificates: named.length > signed.length ? named : signed, isAnchored: false, isSound: false };
}

/** True for a certificate whose subject is its issuer and that its own key signed. */
export function isSelfSigned(certificate: Certificate): boolean {
  return certificate.subject === certificate.issuer && isSignedBy(certificate, certificate);
}

interface Links {
  readonly above: (certificate: Certificate, demand: Demand) => readonly Certificate[];
}

function createLinks(sent: readonly Certificate[], anchors: TrustAnchors, nowMs: number): Links {
  const signatures = new Map<string, boolean>();
  const isSigned = (certificate: Certificate, issuer: Certificate): boolean => {
    const key = `${certificate.fingerprint} ${issuer.fingerprint}`;
    const known = signatures.get(key);
    if (known !== undefined) return known;
    const isIt = signatures.size < MAX_SIGNATURES && isSignedBy(certificate, issuer);
    signatures.set(key, isIt);
    return isIt;
  };
  const find = (certificate: Certificate, demand: Demand): readonly Certificate[] => {
    // A self-signed certificate has no other issuer, regardless of equal names.
    if (certificate.subject === certificate.issuer && isSigned(certificate, certificate)) return [];
    return [...anchors.named(certificate.issuer), ...sent.filter(({ subject }) => subject === certificate.issuer)]
      .filter((issuer) => mayHaveIssued(issuer, certificate))
      .filter((issuer) => demand === 'named' || isSigned(certificate, issuer))
      .filter((issuer) => demand !== 'sound' || (isValidAt(issuer, nowMs) && isAuthority(issuer, anchors)));
  };
  // A cache, because a search reaches certificates with equal names repeatedly.
  const found = new Map<string, readonly Certificate[]>();
  return {
    above: (certificate, demand) => {
      const key = `${demand} ${certificate.fingerprint}`;
      const issuers = found.get(key) ?? find(certificate, demand);
      found.set(key, issuers);
      return issuers;
    },
  };
}

/**
 * True if the key identifiers do not exclude the issuer. They distinguish keys of equal names, if both certificates
 * have one (RFC 5280 section 4.2.1.1).
 */
function mayHaveIssued({ subjectKeyId, fingerprint }: Certificate, certificate: Certificate): boolean {
  if (fingerprint === certificate.fingerprint) return false;
  if (subjectKeyId === null || certificate.authorityKeyId === null) return true;
  return Buffer.from(subjectKeyId).equals(certificate.authorityKeyId);
}

function isValidAt({ parsed }: Certificate, nowMs: number): boolean {
  return parsed.validFromDate.getTime() <= nowMs && parsed.validToDate.getTime() >= nowMs;
}

/** Trusted certificates of version 1 have no extension that marks a CA. */
function isAuthority(issuer: Certificate, anchors: TrustAnchors): boolean {
  return issuer.constraints?.ca ?? anchors.includes(issuer);
}

/** Searches the paths above the leaf, depth first; no path has a certificate twice. */
function search(
  leaf: Certificate,
  above: (certificate: Certificate) => readonly Certificate[],
  isEnd: IsEnd,
): { readonly anchored: readonly Certificate[] | null; readonly longest: readonly Certificate[] } {
  let longest: readonly Certificate[] = [leaf];
  let steps = 0;
  const extend = (path: readonly Certificate[]): readonly Certificate[] | null => {
    const last = path.at(-1)!;
    if (isEnd(last)) return path;
    if (path.length > longest.length) longest = path;
    if (path.length === MAX_PATH) return null;
    for (const issuer of above(last)) {
      steps += 1;
      if (steps > MAX_STEPS) return null;
      if (path.some(({ fingerprint }) => fingerprint === issuer.fingerprint)) continue;
      const anchored = extend([...path, issuer]);
      if (anchored !== null) return anchored;
    }
    return null;
  };
  return { anchored: extend([leaf]), longest };
}
