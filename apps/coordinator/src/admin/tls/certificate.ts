import { createHash, generateKeyPairSync, randomBytes, sign, X509Certificate, type KeyObject } from 'node:crypto';
import { isIP, SocketAddress } from 'node:net';

import { der } from './der.ts';

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
  readonly issuer?: { readonly certificate: string; readonly key: KeyObject };
}

const DAY_MS = 86_400_000;
const ECDSA_WITH_SHA256 = der.sequence(der.oid('1.2.840.10045.4.3.2'));

/**
 * Issues an X.509 certificate (RFC 5280) for a new key on the curve P-256: of a CA that can sign servers only, or of a
 * server. It is made here because an image with Node alone has no program that does.
 */
export function issueCertificate({ commonName, hosts, days, issuer }: CertificateOrder, now = new Date()): Issued {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subjectKey = publicKey.export({ type: 'spki', format: 'der' });
  const issuerCertificate = issuer === undefined ? undefined : new X509Certificate(issuer.certificate);
  const issuerKey = issuerCertificate?.publicKey.export({ type: 'spki', format: 'der' }) ?? subjectKey;
  const toBeSigned = der.sequence(
    der.context(0, true, der.integer(Buffer.of(2))),
    // At most 20 octets, and no sequence number (RFC 5280 section 4.1.2.2).
    der.integer(randomBytes(16)),
    ECDSA_WITH_SHA256,
    name(issuerCertificate === undefined ? commonName : commonNameOf(issuerCertificate)),
    // A clock that is a little behind must not refuse it.
    der.sequence(der.time(new Date(now.getTime() - DAY_MS)), der.time(new Date(now.getTime() + days * DAY_MS))),
    name(commonName),
    subjectKey,
    der.context(3, true, der.sequence(...extensions(hosts, keyId(subjectKey), keyId(issuerKey)))),
  );
  const signature = sign('sha256', toBeSigned, issuer?.key ?? privateKey);
  const certificate = der.sequence(toBeSigned, ECDSA_WITH_SHA256, der.bits(signature));
  return { certificate: pem(certificate), key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string };
}

function extensions(
  hosts: readonly string[] | undefined,
  subjectKeyId: Buffer,
  issuerKeyId: Buffer,
): readonly Buffer[] {
  const isCa = hosts === undefined;
  return [
    // No CA below this one.
    extension('2.5.29.19', isCa ? der.sequence(der.true(), der.integer(Buffer.of(0))) : der.sequence(), true),
    // keyCertSign and cRLSign, or digitalSignature.
    extension('2.5.29.15', isCa ? der.bits(Buffer.of(0x06), 1) : der.bits(Buffer.of(0x80), 7), true),
    extension('2.5.29.14', der.octets(subjectKeyId)),
    extension('2.5.29.35', der.sequence(der.context(0, false, issuerKeyId))),
    ...(isCa
      ? []
      : [
          // serverAuth; clientAuth too, for the links between the nodes of a cluster and to replicas.
          extension('2.5.29.37', der.sequence(der.oid('1.3.6.1.5.5.7.3.1'), der.oid('1.3.6.1.5.5.7.3.2'))),
          extension('2.5.29.17', der.sequence(...hosts.map(generalName))),
        ]),
  ];
}

function extension(oid: string, value: Buffer, critical = false): Buffer {
  return der.sequence(der.oid(oid), ...(critical ? [der.true()] : []), der.octets(value));
}

function generalName(host: string): Buffer {
  if (isIP(host) === 0) return der.context(2, false, Buffer.from(host));
  return der.context(7, false, addressBytes(host));
}

function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  const canonical = new SocketAddress({ address, family: 'ipv6' }).address.replace(
    /(\d+)\.(\d+)\.(\d+)\.(\d+)$/,
    (_, a, b, c, d) =>
      [
        [a, b],
        [c, d],
      ]
        .map(([high, low]) => ((Number(high) << 8) | Number(low)).toString(16))
        .join(':'),
  );
  const [head = '', tail] = canonical.split('::');
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const before = groups(head);
  const after = tail === undefined ? [] : groups(tail);
  const all = [...before, ...Array.from({ length: 8 - before.length - after.length }, () => '0'), ...after];
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex');
}

function name(commonName: string): Buffer {
  return der.sequence(der.set(der.sequence(der.oid('2.5.4.3'), der.text(commonName))));
}

function commonNameOf({ subject }: X509Certificate): string {
  return /^CN=(.*)$/m.exec(subject)?.[1] ?? '';
}

/** RFC 5280 section 4.2.1.2, method 1: of the bits of the key alone, which on P-256 are the last 65 octets. */
function keyId(spki: Buffer): Buffer {
  return createHash('sha1').update(spki.subarray(-65)).digest();
}

function pem(certificate: Buffer): string {
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
