// First: @peculiar/x509 needs it.
import 'reflect-metadata';
import type { webcrypto } from 'node:crypto';
import { isIP } from 'node:net';

import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
  type Extension,
} from '@peculiar/x509';

/** A certificate and its key, in PEM. */
export interface Issued {
  readonly certificate: string;
  readonly key: string;
}

export interface CertificateOrder {
  readonly commonName: string;
  /** Names and addresses of a server; absent for a CA. */
  readonly hosts?: readonly string[];
  readonly days: number;
  /** Absent: it signs itself. */
  readonly issuer?: Issued;
}

const DAY_MS = 86_400_000;
const P256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/**
 * Issues an X.509 certificate for a new key on the curve P-256: of a CA that can sign servers only, or of a server. It is
 * made here because an image with Node alone has no program that does.
 */
export async function issueCertificate(
  { commonName, hosts, days, issuer }: CertificateOrder,
  now = new Date(),
): Promise<Issued> {
  const keys = await crypto.subtle.generateKey(P256, true, ['sign', 'verify']);
  const issuerCertificate = issuer === undefined ? undefined : new X509Certificate(issuer.certificate);
  const issuerPublicKey = (await issuerCertificate?.publicKey.export()) ?? keys.publicKey;
  const certificate = await X509CertificateGenerator.create({
    subject: `CN=${commonName}`,
    issuer: issuerCertificate?.subject ?? `CN=${commonName}`,
    // A clock that is a little behind must not refuse it.
    notBefore: new Date(now.getTime() - DAY_MS),
    notAfter: new Date(now.getTime() + days * DAY_MS),
    publicKey: keys.publicKey,
    signingKey: issuer === undefined ? keys.privateKey : await importKey(issuer.key),
    signingAlgorithm: P256,
    extensions: [
      ...(hosts === undefined ? caExtensions() : serverExtensions(hosts)),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      await AuthorityKeyIdentifierExtension.create(issuerPublicKey),
    ],
  });
  const key = PemConverter.encode(await crypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY');
  return { certificate: `${certificate.toString('pem')}\n`, key: `${key}\n` };
}

function caExtensions(): Extension[] {
  return [
    // No CA below this one.
    new BasicConstraintsExtension(true, 0, true),
    new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
  ];
}

function serverExtensions(hosts: readonly string[]): Extension[] {
  return [
    new BasicConstraintsExtension(false, undefined, true),
    new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
    // Of a client too: for the links between the nodes of a cluster and to replicas.
    new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]),
    new SubjectAlternativeNameExtension(hosts.map(generalName)),
  ];
}

function generalName(host: string): { readonly type: 'dns' | 'ip'; readonly value: string } {
  if (isIP(host) === 0) return { type: 'dns', value: host };
  // The library does not read the IPv4 form at the end of an IPv6 address; URLs are written without it.
  return { type: 'ip', value: isIP(host) === 4 ? host : new URL(`http://[${host}]`).hostname.slice(1, -1) };
}

function importKey(pem: string): Promise<webcrypto.CryptoKey> {
  return crypto.subtle.importKey('pkcs8', PemConverter.decodeFirst(pem), P256, false, ['sign']);
}
