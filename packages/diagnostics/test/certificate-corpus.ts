import {
  withWrongSignature,
  type CertificateMint,
  type CertificateRequest,
  type Issued,
} from '@vantage/test-support/certificate-mint';
import { expectations, type CorpusExpectation } from './certificate-verdicts.ts';

/** A server of the corpus: the certificates that it sends, and the host name of the check. */
export interface CorpusServer extends CorpusExpectation {
  readonly name: string;
  readonly host: string;
  readonly certificate: Issued;
  /** Certificates in the order in which they follow the server's own. */
  readonly chain: readonly Issued[];
  readonly staple?: Buffer;
  /** True for keys that cannot be used in a handshake of TLS 1.2. */
  readonly tls13Only?: boolean;
}

export interface CertificateCorpus {
  readonly servers: readonly CorpusServer[];
  /** Roots that clients trust, then server certificates that they trust directly. */
  readonly roots: readonly Issued[];
  readonly trustedServers: readonly Issued[];
}

export const CORPUS_HOST = 'www.good.test';
const AIA = 'authorityInfoAccess = caIssuers;URI:http://ca.test/issuer.crt';
const SKI = 'subjectKeyIdentifier = hash';
const RSA_1024 = ['rsa:1024'];

type Sent = Omit<CorpusServer, keyof CorpusExpectation | 'name' | 'host'> & { readonly host?: string };

/**
 * Certificate faults one by one and combined, each as a server would present them; the verdicts are in
 * `certificate-verdicts.ts`.
 */
export function certificateCorpus(mint: CertificateMint): CertificateCorpus {
  const root = mint.issue({ subject: '/C=DE/O=Test Trust/CN=Test Root', ca: true, extensions: [SKI] });
  const oldRoot = mint.issue({ subject: '/O=Test Trust/CN=Old Root', ca: true, from: -90, until: -2 });
  const foreign = mint.issue({ subject: '/O=Unknown/CN=Foreign Root', ca: true });
  const authority = (changes: Partial<CertificateRequest> = {}): Issued =>
    mint.issue({
      subject: '/O=Test Trust/CN=Test Intermediate',
      ca: true,
      issuer: root,
      extensions: [SKI],
      ...changes,
    });
  const intermediate = authority();
  const leaf = (changes: Partial<CertificateRequest> = {}): Issued =>
    mint.issue({ subject: `/CN=${CORPUS_HOST}`, names: [`DNS:${CORPUS_HOST}`], issuer: intermediate, ...changes });
  const below = (issuer: Issued, changes: Partial<CertificateRequest> = {}): Issued => leaf({ issuer, ...changes });
  /** A chain of authorities, each signed by the previous one. */
  const descent = (count: number, top: Partial<CertificateRequest> = {}): readonly Issued[] => {
    const all: Issued[] = [];
    for (let at = 1; at <= count; at += 1) {
      const changes = at === 1 ? top : { issuer: all.at(-1)! };
      all.push(authority({ subject: `/O=Test Trust/CN=Level ${at}`, ...changes }));
    }
    return all;
  };
  const plain = (certificate: Issued): Sent => ({ certificate, chain: [intermediate] });
  const unnamed = (names: readonly string[] | undefined): Sent => plain(nameless(names));
  const nameless = (names: readonly string[] | undefined, changes: Partial<CertificateRequest> = {}): Issued =>
    mint.issue({ subject: `/CN=${CORPUS_HOST}`, issuer: intermediate, ...(names && { names }), ...changes });

  const weakTop = descent(2, { key: RSA_1024 });
  const sha1Top = descent(2, { digest: 'sha1' });
  const deep = descent(10, { key: RSA_1024 });
  const three = descent(3);
  const selfSigned = (changes: Partial<CertificateRequest> = {}): Issued =>
    mint.issue({ subject: `/CN=${CORPUS_HOST}`, names: [`DNS:${CORPUS_HOST}`], ...changes });
  const trustedLeaf = selfSigned();
  const sameName = authority({ subject: `/CN=${CORPUS_HOST}` });
  const foreignAuthority = authority({ subject: '/O=Unknown/CN=Foreign Intermediate', issuer: foreign });
  const pointing = authority({
    subject: '/O=Test Trust/CN=Second Intermediate',
    issuer: intermediate,
    extensions: [SKI, AIA],
  });
  const crossed = authority({ subject: '/O=Test Trust/CN=Crossed', extensions: [SKI] });
  const wrongCross = authority({ subject: '/O=Test Trust/CN=Crossed', keyOf: crossed, issuer: foreign });
  const good = leaf();
  const constrained = (line: string): Issued => authority({ extensions: [SKI, `nameConstraints = critical, ${line}`] });
  const under = (issuer: Issued, changes: Partial<CertificateRequest> = {}): Sent => ({
    certificate: below(issuer, changes),
    chain: [issuer],
  });
  const critical = '1.2.3.4.5 = critical, ASN1:UTF8String:x';
  const explicitCurve = ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-pkeyopt', 'ec_param_enc:explicit'];
  const curve = (name: string): readonly string[] => ['ec', '-pkeyopt', `ec_paramgen_curve:${name}`];
  // Servers share the keys that take long to make.
  const rsa = leaf({ key: ['rsa:2048'] });
  const pss = leaf({ key: ['rsa-pss', '-pkeyopt', 'rsa_keygen_bits:2048'] });

  const sent: Readonly<Record<string, Sent>> = {
    // Certificates that every program accepts.
    good: plain(good),
    'good-root-sent': { certificate: good, chain: [intermediate, root] },
    'good-with-strangers': { certificate: good, chain: [foreign, intermediate, foreignAuthority] },
    'good-three-in-order': { certificate: below(three[2]!), chain: three.toReversed() },
    'good-three-reversed': { certificate: below(three[2]!), chain: three },
    'good-three-3-1-2': { certificate: below(three[2]!), chain: [three[2]!, three[0]!, three[1]!] },
    'good-rsa': plain(rsa),
    'good-wildcard': plain(leaf({ names: ['DNS:*.good.test'] })),
    'good-address': { ...plain(leaf({ names: ['IP:127.0.0.1'] })), host: '127.0.0.1' },
    'good-trusted-itself': { certificate: trustedLeaf, chain: [] },
    'good-must-staple-stapled': stapled(leaf({ extensions: ['tlsfeature = status_request'] }), {}),
    // Validity.
    expired: plain(leaf({ from: -90, until: -3.5 })),
    'not-yet': plain(leaf({ from: 2, until: 90 })),
    'expired-intermediate': under(authority({ from: -90, until: -2 })),
    'expired-root': under(authority({ issuer: oldRoot })),
    // The end of the chain.
    'self-signed': { certificate: selfSigned(), chain: [] },
    'self-signed-expired': { certificate: selfSigned({ from: -90, until: -2 }), chain: [] },
    'self-signed-ca': {
      certificate: selfSigned({ extensions: ['keyUsage = keyCertSign'] }),
      chain: [],
      tls13Only: true,
    },
    'foreign-root-sent': { certificate: below(foreign), chain: [foreign] },
    'foreign-alone': { certificate: below(foreign), chain: [] },
    'foreign-intermediate': { certificate: below(foreignAuthority), chain: [foreignAuthority] },
    'foreign-expired': { certificate: below(foreign, { from: -90, until: -2 }), chain: [foreign] },
    'foreign-expired-other-host': {
      certificate: below(foreign, { from: -90, until: -2, names: ['DNS:other.test'] }),
      chain: [foreign],
    },
    'missing-intermediate': { certificate: leaf({ extensions: [AIA] }), chain: [] },
    'missing-intermediate-expired': { certificate: leaf({ extensions: [AIA], from: -90, until: -2 }), chain: [] },
    'missing-upper-intermediate': { certificate: below(pointing), chain: [pointing] },
    'wrong-cross-first': { certificate: below(crossed), chain: [wrongCross, crossed] },
    // Strength.
    'weak-leaf-key': plain(leaf({ key: RSA_1024 })),
    'weak-leaf-signature': plain(leaf({ digest: 'sha1' })),
    'weak-leaf-md5': under(authority({ keyOf: rsa }), { digest: 'md5' }),
    'weak-leaf-pss-sha1': under(authority({ keyOf: pss }), { digest: 'sha1' }),
    'weak-authority-in-order': { certificate: below(weakTop[1]!), chain: weakTop.toReversed() },
    'weak-authority-reversed': { certificate: below(weakTop[1]!), chain: weakTop },
    'sha1-authority-reversed': { certificate: below(sha1Top[1]!), chain: sha1Top },
    'weak-authority-of-eleven': { certificate: below(deep[9]!), chain: deep.toReversed() },
    'sha1-by-authority-of-same-name': { certificate: below(sameName, { digest: 'sha1' }), chain: [sameName] },
    // Restrictions of authorities and certificates.
    'constraint-permitted': under(constrained('permitted;DNS:other.test')),
    'constraint-excluded': under(constrained('excluded;DNS:good.test')),
    'constraint-and-expired': under(constrained('permitted;DNS:other.test'), { from: -90, until: -2 }),
    'critical-unknown': plain(leaf({ extensions: [critical] })),
    'critical-unknown-authority': under(authority({ extensions: [SKI, critical] })),
    'critical-unknown-expired': plain(leaf({ extensions: [critical], from: -90, until: -2 })),
    'authority-may-not-sign': under(authority({ extensions: [SKI, 'keyUsage = digitalSignature'] })),
    'authority-is-none': under(authority({ ca: false })),
    'path-too-long': {
      certificate: below(pointing),
      chain: [pointing, authority({ keyOf: intermediate, constraints: 'CA:TRUE, pathlen:0' })],
    },
    'explicit-curve': plain(leaf({ key: explicitCurve })),
    'explicit-curve-expired': plain(leaf({ key: explicitCurve, from: -90, until: -2 })),
    'for-clients': plain(leaf({ extensions: ['extendedKeyUsage = clientAuth'] })),
    'authority-for-clients': under(authority({ extensions: [SKI, 'extendedKeyUsage = clientAuth'] })),
    'key-not-for-tls': { ...plain(leaf({ extensions: ['keyUsage = cRLSign'] })), tls13Only: true },
    'wrong-signature': plain(withWrongSignature(good)),
    'wrong-signature-authority': { certificate: good, chain: [withWrongSignature(intermediate)] },
    'wrong-signature-expired': plain(withWrongSignature(leaf({ from: -90, until: -2 }))),
    // Names.
    'other-host': plain(leaf({ names: ['DNS:other.test'] })),
    'other-host-expired': plain(leaf({ names: ['DNS:other.test'], from: -90, until: -2 })),
    'other-host-weak': plain(leaf({ names: ['DNS:other.test'], key: RSA_1024 })),
    'common-name-only': unnamed(undefined),
    'common-name-version-1': plain(nameless(undefined, { bare: true })),
    'common-name-and-address': unnamed(['IP:192.0.2.1']),
    'common-name-and-uri': unnamed([`URI:https://${CORPUS_HOST}/`]),
    'common-name-and-mail': unnamed([`email:admin@${CORPUS_HOST}`]),
    'wildcard-partial': unnamed(['DNS:w*.good.test']),
    'wildcard-two-levels': { ...unnamed(['DNS:*.good.test']), host: 'a.www.good.test' },
    'name-with-dot': unnamed([`DNS:${CORPUS_HOST}.`]),
    'name-upper-case': unnamed([`DNS:${CORPUS_HOST.toUpperCase()}`]),
    'address-as-name': { ...unnamed(['DNS:127.0.0.1']), host: '127.0.0.1' },
    'wildcard-of-registry': { ...unnamed(['DNS:*.co.uk']), host: 'example.co.uk' },
    'wildcard-of-registry-by-rule': { ...unnamed(['DNS:*.foo.ck']), host: 'example.foo.ck' },
    'wildcard-of-registry-exception': { ...unnamed(['DNS:*.www.ck']), host: 'example.www.ck' },
    'wildcard-below-private-suffix': { ...unnamed(['DNS:*.github.io']), host: 'example.github.io' },
    'wildcard-of-unknown-domain': { ...unnamed(['DNS:*.corp.intranet-x']), host: 'example.corp.intranet-x' },
    // Certificates that Chromium refuses and OpenSSL accepts, and similar ones that both accept.
    'good-p384': plain(leaf({ key: curve('P-384') })),
    'good-authority-p521': under(authority({ key: curve('P-521') })),
    'good-sha512': plain(leaf({ digest: 'sha512' })),
    'good-for-ten-years': plain(leaf({ until: 3_650 })),
    'key-ed25519': plain(leaf({ key: ['ed25519'] })),
    'key-ed448': plain(leaf({ key: ['ed448'] })),
    'key-p521': plain(leaf({ key: curve('P-521') })),
    'key-rsa-pss': plain(pss),
    'authority-ed25519': under(authority({ key: ['ed25519'] })),
    'authority-secp256k1': under(authority({ key: curve('secp256k1') })),
    'authority-rsa-pss': under(authority({ keyOf: pss })),
    'signature-sha224': plain(leaf({ digest: 'sha224' })),
    'signature-rsa-sha224': under(authority({ keyOf: rsa }), { digest: 'sha224' }),
    'key-not-for-signing': plain(leaf({ keyOf: rsa, extensions: ['keyUsage = keyEncipherment'] })),
    'for-old-servers': plain(leaf({ extensions: ['extendedKeyUsage = 2.16.840.1.113730.4.1'] })),
    // Revocation.
    revoked: stapled(leaf(), { revoked: true }),
    'revoked-expired': stapled(leaf({ from: -90, until: -2 }), { revoked: true }),
    'must-staple-unstapled': plain(leaf({ extensions: ['tlsfeature = status_request'] })),
    // Several faults combined.
    'foreign-weak-expired-other-host': {
      certificate: below(foreign, { from: -90, until: -2, names: ['DNS:other.test'], key: RSA_1024, digest: 'sha1' }),
      chain: [foreign],
    },
  };

  function stapled(certificate: Issued, { revoked = false }: { readonly revoked?: boolean }): Sent {
    return { ...plain(certificate), staple: mint.ocspResponse({ certificate, issuer: intermediate, revoked }) };
  }

  const servers = Object.entries(sent).map(([name, server]) => {
    const expectation = expectations[name];
    if (expectation === undefined) throw new Error(`There is no verdict for ${name}.`);
    return { name, host: CORPUS_HOST, ...server, ...expectation };
  });
  return { servers, roots: [root, oldRoot], trustedServers: [trustedLeaf] };
}
