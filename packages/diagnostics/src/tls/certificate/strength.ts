import type { Certificate } from './certificate.ts';

/** RSASSA-PSS hash OIDs (RFC 4055 section 2.1). */
const PSS_HASHES: Readonly<Record<string, string>> = {
  '1.3.14.3.2.26': 'SHA1',
  '2.16.840.1.101.3.4.2.1': 'SHA256',
  '2.16.840.1.101.3.4.2.2': 'SHA384',
  '2.16.840.1.101.3.4.2.3': 'SHA512',
  '2.16.840.1.101.3.4.2.4': 'SHA224',
};
/** Matches signature algorithm names that use MD2, MD4, MD5 or SHA-1. */
const WEAK_HASH = /md[245]|sha-?1(?!\d)/i;

/** Minimum key sizes for 112 bits of security, as at OpenSSL's level 2. */
const MINIMUM_BITS: Readonly<Record<string, number>> = { rsa: 2048, 'rsa-pss': 2048, dsa: 2048, ec: 224 };

/** Why the key of a certificate is too weak; `null` if it is not, or not known. */
export function keyWeakness({ keyType, keyBits }: Certificate): string | null {
  const minimum = MINIMUM_BITS[keyType ?? ''] ?? 0;
  if (keyBits === null || keyBits >= minimum) return null;
  return `${keyType === 'ec' ? 'elliptic curve' : keyType!.toUpperCase()} of ${keyBits} bits, fewer than ${minimum}`;
}

/** Why the signature of a certificate is too weak; `null` if it is not, or not known. */
export function signatureWeakness(certificate: Certificate): string | null {
  const name = signatureNameOf(certificate);
  return name !== null && WEAK_HASH.test(name) ? name : null;
}

/**
 * Name of the signature algorithm of a certificate, such as `ecdsa-with-SHA256`, or its OID if OpenSSL has no name for
 * it; with RSASSA-PSS also its hash. Null if neither is known.
 */
export function signatureNameOf({ parsed, body }: Certificate): string | null {
  const name = parsed.signatureAlgorithm ?? body?.signature.oid ?? null;
  const hash = body?.signature.hash ?? null;
  return name === null || hash === null ? name : `${name} with ${PSS_HASHES[hash] ?? hash}`;
}
