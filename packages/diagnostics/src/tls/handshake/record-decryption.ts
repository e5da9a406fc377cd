import {
  createDecipheriv,
  createHmac,
  type CipherCCMTypes,
  type CipherChaCha20Poly1305Types,
  type CipherGCMTypes,
} from 'node:crypto';

/** Decrypts the records of one direction in order; `null` for a record encrypted with other keys. */
export type DecryptRecord = (header: Buffer, body: Buffer) => Buffer | null;

type Algorithm = CipherGCMTypes | CipherCCMTypes | CipherChaCha20Poly1305Types;

interface Suite {
  readonly algorithm: Algorithm;
  readonly hash: string;
  readonly keyBytes: number;
  readonly tagBytes: number;
}

/** Cipher suites of TLS 1.3 by number (RFC 8446 appendix B.4). */
const SUITES: Readonly<Record<number, Suite>> = {
  0x1301: { algorithm: 'aes-128-gcm', hash: 'sha256', keyBytes: 16, tagBytes: 16 },
  0x1302: { algorithm: 'aes-256-gcm', hash: 'sha384', keyBytes: 32, tagBytes: 16 },
  0x1303: { algorithm: 'chacha20-poly1305', hash: 'sha256', keyBytes: 32, tagBytes: 16 },
  0x1304: { algorithm: 'aes-128-ccm', hash: 'sha256', keyBytes: 16, tagBytes: 16 },
  0x1305: { algorithm: 'aes-128-ccm', hash: 'sha256', keyBytes: 16, tagBytes: 8 },
};
const IV_BYTES = 12;

/**
 * Creates the decryption of TLS 1.3 records (RFC 8446 section 5.2).
 *
 * @param cipherSuite its number in the ServerHello
 * @param secret traffic secret of one direction, from Node's `keylog` event
 * @returns `null` for a suite that is not among `SUITES`
 */
export function recordDecryption(cipherSuite: number, secret: Buffer): DecryptRecord | null {
  const suite = SUITES[cipherSuite];
  if (suite === undefined) return null;
  const key = expandLabel(suite.hash, secret, 'key', suite.keyBytes);
  const iv = expandLabel(suite.hash, secret, 'iv', IV_BYTES);
  let sequence = 0n;
  return (header, body) => {
    const nonce = Buffer.from(iv);
    nonce.writeBigUInt64BE(nonce.readBigUInt64BE(4) ^ sequence, 4);
    sequence += 1n;
    try {
      return opened(suite, key, nonce, header, body);
    } catch {
      // The authentication tag does not match.
      return null;
    }
  };
}

function opened(
  { algorithm, tagBytes }: Suite,
  key: Buffer,
  nonce: Buffer,
  header: Buffer,
  body: Buffer,
): Buffer | null {
  const textBytes = body.length - tagBytes;
  if (textBytes < 1) return null;
  const decipher = createDecipheriv(algorithm as CipherCCMTypes, key, nonce, { authTagLength: tagBytes });
  decipher.setAuthTag(body.subarray(textBytes));
  decipher.setAAD(header, { plaintextLength: textBytes });
  const text = decipher.update(body.subarray(0, textBytes));
  decipher.final();
  return text;
}

/**
 * HKDF-Expand-Label without a context (RFC 8446 section 7.1), limited to one block: no length here exceeds that of the
 * hash.
 */
function expandLabel(hash: string, secret: Buffer, label: string, length: number): Buffer {
  const name = Buffer.from(`tls13 ${label}`);
  const info = Buffer.concat([Buffer.of(0, length, name.length), name, Buffer.of(0, 1)]);
  return createHmac(hash, secret).update(info).digest().subarray(0, length);
}
