// Imported first, as @peculiar/x509 requires.
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
  /** The CA that issues the certificate; without one it is self-signed. */
  readonly issuer?: Issued;
}

const DAY_MS = 86_400_000;
const P256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/** Issues an X.509 certificate for a new P-256 key: for a CA that can issue no other CAs, or for a server. */
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
    // Tolerates clients whose clock is slow.
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
    // This CA cannot issue other CAs.
    new BasicConstraintsExtension(true, 0, true),
    new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
  ];
}

function serverExtensions(hosts: readonly string[]): Extension[] {
  return [
    new BasicConstraintsExtension(false, undefined, true),
    new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
    // The certificate is valid for clients, too, because cluster and replication links authenticate both sides.
    new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]),
    new SubjectAlternativeNameExtension(hosts.map(generalName)),
  ];
}

function generalName(host: string): { readonly type: 'dns' | 'ip'; readonly value: string } {
  if (isIP(host) === 0) return { type: 'dns', value: host };
  // The library does not parse dotted IPv4 inside an IPv6 address; URL normalises it.
  return { type: 'ip', value: isIP(host) === 4 ? host : new URL(`http://[${host}]`).hostname.slice(1, -1) };
}

function importKey(pem: string): Promise<webcrypto.CryptoKey> {
  return crypto.subtle.importKey('pkcs8', PemConverter.decodeFirst(pem), P256, false, ['sign']);
}
