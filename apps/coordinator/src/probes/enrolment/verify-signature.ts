import { createHash, createPublicKey, verify } from 'node:crypto';

import { challengeText, PUBLIC_KEY_PATTERN, SIGNATURE_PATTERN, type AgentChallenge } from '@vantage/contract';

const publicKeyText = new RegExp(PUBLIC_KEY_PATTERN);
const signatureText = new RegExp(SIGNATURE_PATTERN);

/** True if the holder of the key signed this challenge (Ed25519, RFC 8032). Never throws. */
export function verifySignature(challenge: AgentChallenge, signature: string): boolean {
  if (!publicKeyText.test(challenge.publicKey) || !signatureText.test(signature)) return false;
  try {
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: challenge.publicKey }, format: 'jwk' });
    return verify(null, Buffer.from(challengeText(challenge)), key, Buffer.from(signature, 'base64url'));
  } catch {
    // The key is invalid, for example because its 32 bytes are no point of the curve.
    return false;
  }
}

/** A name of a key for operators. */
export function fingerprintOf(publicKey: string): string {
  return `SHA256:${createHash('sha256').update(Buffer.from(publicKey, 'base64url')).digest('base64url')}`;
}

/**
 * SHA-256 of a token in hexadecimal, as stored in Redis. A lookup by digest does not leak by its duration how much of a
 * guessed token is right.
 */
export function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
