import { createHash, sign, verify, type KeyObject } from 'node:crypto';

/** A signed statement, as DSSE 1.0 has it: https://github.com/secure-systems-lab/dsse */
export interface Envelope {
  readonly payloadType: string;
  /** Signed content, base64. */
  readonly payload: string;
  readonly signatures: readonly { readonly keyid: string; readonly sig: string }[];
}

const PAYLOAD_TYPE = 'application/vnd.in-toto+json';

/** @param key an Ed25519 key */
export function seal(statement: object, key: KeyObject, publicKey: KeyObject): Envelope {
  const payload = Buffer.from(JSON.stringify(statement));
  const sig = sign(null, preAuthEncoding(PAYLOAD_TYPE, payload), key).toString('base64');
  const keyid = fingerprint(publicKey);
  return { payloadType: PAYLOAD_TYPE, payload: payload.toString('base64'), signatures: [{ keyid, sig }] };
}

/**
 * @returns the signed statement
 * @throws Error if no signature is of that key, or the payload is no in-toto statement
 */
export function unseal({ payloadType, payload, signatures }: Envelope, publicKey: KeyObject): unknown {
  const bytes = Buffer.from(payload, 'base64');
  const signed = preAuthEncoding(payloadType, bytes);
  if (!signatures.some(({ sig }) => verify(null, signed, publicKey, Buffer.from(sig, 'base64')))) {
    throw new Error('the signature is not of this key, or the statement was changed after it was signed');
  }
  if (payloadType !== PAYLOAD_TYPE) throw new Error(`the payload is ${payloadType}, expected ${PAYLOAD_TYPE}`);
  return JSON.parse(bytes.toString());
}

/** The signed bytes (DSSE): type and payload with their lengths, so that neither can be mistaken for the other. */
export function preAuthEncoding(type: string, payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`DSSEv1 ${Buffer.byteLength(type)} ${type} ${payload.length} `), payload]);
}

function fingerprint(publicKey: KeyObject): string {
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex');
}
