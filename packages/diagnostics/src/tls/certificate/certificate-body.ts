import { bitsOf, contextTag, DerError, oidOf, onlyValue, tags, valuesOf, type DerValue } from './der.ts';

/** The fields of a certificate that Node does not show, or shows as text (RFC 5280 sections 4.1 and 4.2). */
export interface CertificateBody {
  /** Content octets of the INTEGER, without tag and length. */
  readonly serialNumber: Uint8Array;
  /** The issuer's Name in DER, with its tag and length. */
  readonly issuerName: Uint8Array;
  /** The bits of the key, without its algorithm. */
  readonly publicKey: Uint8Array;
  /** True for a key whose curve is given by parameters instead of a name, which RFC 5480 section 2.1.1 forbids. */
  readonly hasExplicitCurve: boolean;
  readonly signature: SignatureAlgorithm;
  readonly extensions: readonly Extension[];
}

export interface SignatureAlgorithm {
  readonly oid: string;
  /**
   * OID of the hash in the parameters of RSASSA-PSS (RFC 4055 section 3.1); null for other algorithms, or if unknown.
   */
  readonly hash: string | null;
}

export interface Extension {
  readonly oid: string;
  readonly critical: boolean;
  readonly value: Uint8Array;
}

export const extensionOids = {
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  tlsFeature: '1.3.6.1.5.5.7.1.24',
} as const;

const EC_PUBLIC_KEY = '1.2.840.10045.2.1';
const RSASSA_PSS = '1.2.840.113549.1.1.10';
const SHA1 = '1.3.14.3.2.26';
const MAX_EXTENSIONS = 64;
const MAX_ITEMS = 10_000;

/**
 * Reads a certificate (RFC 5280 section 4.1).
 *
 * @param der one certificate
 * @throws {DerError} for a truncated or malformed certificate
 */
export function readCertificateBody(der: Uint8Array): CertificateBody {
  const [body, algorithm] = valuesOf(onlyValue(der, tags.sequence).content, 3);
  const fields = valuesOf(body?.content ?? der, 10);
  // A certificate of version 1 omits the field of the version.
  const [serialNumber, , issuerName, , , keyInfo, ...rest] =
    fields[0]?.tag === contextTag(0) ? fields.slice(1) : fields;
  if (serialNumber === undefined || issuerName === undefined || keyInfo === undefined || algorithm === undefined) {
    throw new DerError('The certificate breaks off.');
  }
  const [keyAlgorithm, key] = valuesOf(keyInfo.content, 2);
  const [keyOid, keyParameters] = valuesOf(keyAlgorithm?.content ?? keyInfo.content, 2);
  return {
    serialNumber: serialNumber.content,
    issuerName: issuerName.whole,
    publicKey: bitsOf(key),
    hasExplicitCurve: keyOid !== undefined && oidOf(keyOid) === EC_PUBLIC_KEY && keyParameters?.tag === tags.sequence,
    signature: signatureAlgorithm(algorithm),
    extensions: extensionsOf(rest.find(({ tag }) => tag === contextTag(3))),
  };
}

/** Reads the extension basicConstraints (RFC 5280 section 4.2.1.9); `pathLength` is `null` if it sets no limit. */
export function basicConstraints(value: Uint8Array): { readonly ca: boolean; readonly pathLength: number | null } {
  const fields = valuesOf(onlyValue(value, tags.sequence).content, 2);
  const ca = fields.some(({ tag, content }) => tag === tags.boolean && content[0] !== 0);
  const length = fields.find(({ tag }) => tag === tags.integer)?.content;
  return { ca, pathLength: length === undefined ? null : length.reduce((sum, byte) => sum * 256 + byte, 0) };
}

/** Reads the extension keyUsage (RFC 5280 section 4.2.1.3): the numbers of the bits that are set. */
export function keyUsages(value: Uint8Array): ReadonlySet<number> {
  const bytes = onlyValue(value, tags.bitString).content.subarray(1);
  return new Set(
    [...bytes].flatMap((byte, at) => bitNumbers.filter((bit) => byte & (0x80 >> bit)).map((bit) => at * 8 + bit)),
  );
}

const bitNumbers = [0, 1, 2, 3, 4, 5, 6, 7];

/** Reads the extension extKeyUsage (RFC 5280 section 4.2.1.12): the OIDs of the purposes. */
export function extendedKeyUsages(value: Uint8Array): readonly string[] {
  return valuesOf(onlyValue(value, tags.sequence).content, MAX_EXTENSIONS).map(oidOf);
}

/** The keyIdentifier of an authorityKeyIdentifier (RFC 5280 section 4.2.1.1); null if it has none, as is allowed. */
export function authorityKeyId(value: Uint8Array): Uint8Array | null {
  const fields = valuesOf(onlyValue(value, tags.sequence).content, 3);
  return fields.find(({ tag }) => tag === contextTag(0, false))?.content ?? null;
}

export function subjectKeyId(value: Uint8Array): Uint8Array {
  return onlyValue(value, tags.octetString).content;
}

/** True if the certificate requires OCSP stapling: the feature `status_request` (RFC 7633). */
export function demandsStaple(value: Uint8Array): boolean {
  const STATUS_REQUEST = 5;
  const features = valuesOf(onlyValue(value, tags.sequence).content, MAX_EXTENSIONS);
  return features.some(({ content }) => content.length === 1 && content[0] === STATUS_REQUEST);
}

/** Alternative names of a server (RFC 5280 section 4.2.1.6): DNS names, and addresses as bytes. */
export function serverNames(value: Uint8Array): {
  readonly names: readonly string[];
  readonly addresses: readonly Uint8Array[];
} {
  const all = valuesOf(onlyValue(value, tags.sequence).content, MAX_ITEMS);
  const ofTag = (number: number): readonly Uint8Array[] =>
    all.flatMap(({ tag, content }) => (tag === contextTag(number, false) ? [content] : []));
  return { names: ofTag(2).map((name) => Buffer.from(name).toString('latin1')), addresses: ofTag(7) };
}

function signatureAlgorithm({ content }: DerValue): SignatureAlgorithm {
  const [oid, parameters] = valuesOf(content, 2);
  if (oid === undefined) throw new DerError('There is no signature algorithm.');
  const name = oidOf(oid);
  if (name !== RSASSA_PSS) return { oid: name, hash: null };
  // RFC 4055 section 3.1: SHA-1 is the default.
  const hash = valuesOf(parameters?.content ?? content.subarray(content.length), 4).find(
    ({ tag }) => tag === contextTag(0),
  );
  if (hash === undefined) return { oid: name, hash: SHA1 };
  const [hashOid] = valuesOf(onlyValue(hash.content, tags.sequence).content, 2);
  return { oid: name, hash: hashOid === undefined ? null : oidOf(hashOid) };
}

function extensionsOf(wrapped: DerValue | undefined): readonly Extension[] {
  if (wrapped === undefined) return [];
  return valuesOf(onlyValue(wrapped.content, tags.sequence).content, MAX_EXTENSIONS).map(({ content }) => {
    const [oid, ...rest] = valuesOf(content, 3);
    const value = rest.at(-1);
    if (oid === undefined || value?.tag !== tags.octetString) throw new DerError('There is no extension.');
    const critical = rest.length === 2 && rest[0]!.tag === tags.boolean && rest[0]!.content[0] !== 0;
    return { oid: oidOf(oid), critical, value: value.content };
  });
}
