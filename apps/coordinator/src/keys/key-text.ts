import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';

import { API_KEY } from '@vantage/contract';

/** The parts of the text of an API key. */
export interface KeyText {
  readonly prefix: string;
  readonly secret: string;
}

const SECRET_BYTES = 32;
const PREFIX_LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';
const PREFIX_LENGTH = 8;

export function createKeyText(): KeyText {
  const letters = Array.from({ length: PREFIX_LENGTH }, () => PREFIX_LETTERS[randomInt(PREFIX_LETTERS.length)]);
  return { prefix: letters.join(''), secret: randomBytes(SECRET_BYTES).toString('base64url') };
}

export function formatKeyText({ prefix, secret }: KeyText): string {
  return `vtg_${prefix}_${secret}`;
}

/** Parses an API key; undefined for any other text. */
export function readKeyText(text: string): KeyText | undefined {
  const [, prefix, secret] = API_KEY.exec(text) ?? [];
  return prefix === undefined || secret === undefined ? undefined : { prefix, secret };
}

/**
 * Digest under which a secret is stored. SHA-256 suffices: the secret has 256 random bits, so a slow hash adds nothing.
 */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** True for the secret of this digest; the time of the comparison does not depend on how many digits agree. */
export function isSecretOf(secret: string, hash: string): boolean {
  return timingSafeEqual(Buffer.from(hashSecret(secret), 'hex'), Buffer.from(hash, 'hex'));
}
