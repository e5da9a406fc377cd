import { constants, hash, X509Certificate } from 'node:crypto';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';

import { LRUCache } from 'lru-cache';

import { chromiumOffer } from '../chromium-offer.ts';
import type { TlsIdentity, TlsVersion } from '../rules.ts';
import { certificateOf, comparableName, type Certificate } from './certificate.ts';

/** Trusted certificates, parsed when they are first needed. */
export interface TrustStore {
  /**
   * The context of a handshake. It allows TLS 1.0 and weak ciphers, because they are measured, not relied on. It
   * resumes no session, so that every handshake shows the certificate.
   *
   * @param versions all by default
   * @param identity client certificate; none by default
   * @param offer the usual one by default
   */
  readonly secureContext: (versions?: TlsVersions, identity?: TlsIdentity, offer?: Offer) => SecureContext;
  readonly anchors: () => TrustAnchors;
}

/**
 * What a handshake offers: everything usual, the same with post-quantum groups (ML-KEM) first, or exactly the versions,
 * cipher suites, groups and signatures of Chromium.
 */
export type Offer = 'usual' | 'with ML-KEM' | 'of Chromium';

export interface TlsVersions {
  readonly minVersion: TlsVersion;
  readonly maxVersion: TlsVersion;
}

export interface TrustStoreOptions {
  /** PEM texts of the roots of public authorities; those of Mozilla, which Node brings along, by default. */
  readonly publicAuthorities?: () => readonly string[];
  /** True if the certificates that Node trusts are not trusted. */
  readonly exclusive?: boolean;
}

/** The trusted certificates, for building paths. */
export interface TrustAnchors {
  /** Trusted certificates with this subject, in the form of `Certificate.subject`. */
  readonly named: (subject: string) => readonly Certificate[];
  readonly includes: (certificate: Certificate) => boolean;
  /** True for a root of a public authority (`publicAuthorities`): the rules of the public web apply to it. */
  readonly isPublic: (certificate: Certificate) => boolean;
}

/**
 * Reads the certificates when they are first needed.
 *
 * @param certificateAuthorities PEM texts to trust in addition to the certificates that Node trusts
 */
export function createTrustStore(
  certificateAuthorities: readonly string[],
  { publicAuthorities = () => getCACertificates('bundled'), exclusive = false }: TrustStoreOptions = {},
): TrustStore {
  const contexts = new Map<string, SecureContext>();
  const contextsOfClients = new LRUCache<string, SecureContext>({ max: MAX_CLIENT_CONTEXTS });
  const trusted = (): readonly string[] =>
    exclusive ? certificateAuthorities : [...getCACertificates('default'), ...certificateAuthorities];
  // Without custom certificates, Node shares its own among all contexts.
  const ca = certificateAuthorities.length === 0 && !exclusive ? undefined : trusted;
  let anchors: TrustAnchors | undefined;
  return {
    secureContext: (versions = ALL_VERSIONS, identity, offer = 'usual') => {
      const kind = `${versions.minVersion} ${versions.maxVersion} ${offer}`;
      const [kept, key] = identity === undefined ? [contexts, kind] : [contextsOfClients, keyOf(kind, identity)];
      const context = kept.get(key) ?? createContext(versions, offer, ca?.(), identity);
      kept.set(key, context);
      return context;
    },
    anchors: () => (anchors ??= readAnchors(trusted(), publicAuthorities)),
  };
}

/**
 * Limit of cached contexts with a client certificate. With custom certificates each takes a mebibyte outside the heap
 * of V8, which would collect unused ones late, and 20 ms.
 */
const MAX_CLIENT_CONTEXTS = 8;

function keyOf(kind: string, { cert, key }: TlsIdentity): string {
  return `${kind} ${hash('sha256', JSON.stringify([cert, key]))}`;
}

const ALL_VERSIONS: TlsVersions = { minVersion: 'TLSv1', maxVersion: 'TLSv1.3' };

/**
 * Ciphers of this OpenSSL that encrypt and authenticate the server, except those with a pre-shared key (PSK) or SRP.
 * The default ones come first: with others first, a server that follows the order of the client would behave
 * differently than to ordinary clients.
 */
const CIPHERS = [
  'TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256',
  'TLS_AES_128_CCM_SHA256:TLS_AES_128_CCM_8_SHA256',
  'ALL:+AESCCM:+ARIA:+CAMELLIA:!aNULL:!eNULL:!PSK:!SRP:@SECLEVEL=0',
].join(':');

const USUAL_GROUPS = 'X25519:P-256:X448:P-521:P-384:ffdhe2048:ffdhe3072:ffdhe4096:ffdhe6144:ffdhe8192';

/** The key share of the first one makes the ClientHello span two packets, on which some servers and firewalls fail. */
const ML_KEM_GROUPS = 'X25519MLKEM768:SecP256r1MLKEM768:SecP384r1MLKEM1024:MLKEM768:MLKEM1024:MLKEM512';

function createContext(
  versions: TlsVersions,
  offer: Offer,
  ca: readonly string[] | undefined,
  identity?: TlsIdentity,
): SecureContext {
  return createSecureContext({
    // `TLSSocket.disableRenegotiation` works only on the side of the server.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    ...versions,
    ...identity,
    ciphers: CIPHERS,
    ecdhCurve: offer === 'usual' ? USUAL_GROUPS : `${ML_KEM_GROUPS}:${USUAL_GROUPS}`,
    ...(offer === 'of Chromium' ? chromiumOffer.context : {}),
    ...(ca === undefined ? {} : { ca: [...ca] }),
  });
}

const ONE_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Reads the subjects of all certificates at once; the rest of a certificate only when a path reaches it. */
function readAnchors(texts: readonly string[], publicAuthorities: () => readonly string[]): TrustAnchors {
  const parsed = texts.flatMap((text) => text.match(ONE_CERTIFICATE) ?? []).map((pem) => new X509Certificate(pem));
  const bySubject = Map.groupBy(parsed, ({ subject }) => comparableName(subject));
  const read = new Map<string, readonly Certificate[]>();
  const named = (subject: string): readonly Certificate[] => {
    const anchors = read.get(subject) ?? distinct(bySubject.get(subject)?.map(({ raw }) => certificateOf(raw)) ?? []);
    if (anchors.length > 0) read.set(subject, anchors);
    return anchors;
  };
  let publicTexts: ReadonlySet<string> | undefined;
  return {
    named,
    isPublic: ({ parsed: certificate }) => {
      publicTexts ??= new Set(publicAuthorities().map(withoutBlanks));
      return publicTexts.has(withoutBlanks(certificate.toString()));
    },
    includes: ({ subject, fingerprint }) => named(subject).some((anchor) => anchor.fingerprint === fingerprint),
  };
}

function withoutBlanks(pem: string): string {
  return pem.replaceAll(/\s/g, '');
}

function distinct(certificates: readonly Certificate[]): readonly Certificate[] {
  return [...new Map(certificates.map((certificate) => [certificate.fingerprint, certificate])).values()];
}
