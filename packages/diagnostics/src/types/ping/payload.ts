import { randomBytes } from 'node:crypto';

/**
 * Size of the random bytes that distinguish replies to this check from those to another program with the same
 * identifier.
 */
const COOKIE_BYTES = 16;

/**
 * Payload of a check's echo requests: random bytes, then, if it fits, a tag that identifies the probe, then a counting
 * pattern. The same for every packet of the check.
 */
export function pingPayload(bytes: number, tag: string): Uint8Array {
  const payload = new Uint8Array(bytes);
  for (let index = 0; index < bytes; index += 1) payload[index] = index;
  const cookie = randomBytes(COOKIE_BYTES).subarray(0, bytes);
  payload.set(cookie);
  const words = Buffer.from(tag);
  if (words.length <= bytes - cookie.length) payload.set(words, cookie.length);
  return payload;
}

/** Minimum number of bytes of cookie that identify a payload: less could match by chance. */
const TELLING_BYTES = 8;

/**
 * True if the payload has enough random bytes to identify replies; otherwise sender and sequence number must suffice.
 */
export function isTelling(payload: Uint8Array): boolean {
  return payload.length >= TELLING_BYTES;
}

/** How the payload of a reply compares with the sent one. */
export type PayloadMatch = 'same' | 'changed' | 'foreign';

/**
 * Compares a received payload. `foreign`: more than half of the random bytes differ, so it answers another program's
 * request; `changed`: damaged, truncated or longer. Without a sent payload, any payload is foreign.
 */
export function matchPayload(sent: Uint8Array, received: Uint8Array): PayloadMatch {
  if (Buffer.compare(sent, received) === 0) return 'same';
  const cookie = sent.subarray(0, COOKIE_BYTES);
  if (cookie.length === 0) return 'foreign';
  const sameBytes = cookie.reduce((same, byte, index) => same + (byte === received[index] ? 1 : 0), 0);
  return sameBytes >= cookie.length / 2 ? 'changed' : 'foreign';
}

/**
 * True if the quotation in an ICMP error does not contradict the payload: routers may quote none of it, or zeros in its
 * place.
 */
export function quotesPayload(sent: Uint8Array, quoted: Uint8Array): boolean {
  const cookie = sent.subarray(0, Math.min(COOKIE_BYTES, quoted.length));
  const isPadding = quoted.subarray(0, cookie.length).every((byte) => byte === 0);
  return isPadding || Buffer.compare(cookie, quoted.subarray(0, cookie.length)) === 0;
}
