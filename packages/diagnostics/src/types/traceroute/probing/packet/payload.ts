import { randomBytes } from 'node:crypto';

import type { Family } from '@vantage/contract';

export const COOKIE_BYTES = 8;
/** Prefix of a payload: two bytes that balance the checksum, eight of cookie, two of packet number. */
export const PREFIX_BYTES = 2 + COOKIE_BYTES + 2;
const MAX_TAG_BYTES = 64;
const HEADER_BYTES = 8;
const IP_HEADER_BYTES = { 4: 20, 6: 40 } as const;

interface Wanted {
  readonly tag: string;
  readonly family: Family;
  readonly bytes?: number | undefined;
  /** Size of the transport header; that of ICMP and UDP if absent. */
  readonly headerBytes?: number;
}

/** Payload: two bytes that balance the checksum, a random cookie, space for a number, the tag, zeros up to the size. */
export function payloadTemplate({ tag, bytes, family, headerBytes = HEADER_BYTES }: Wanted): Uint8Array {
  const words = Buffer.from(tag).subarray(0, MAX_TAG_BYTES);
  const least = PREFIX_BYTES + words.length;
  const wanted = bytes === undefined ? least : bytes - IP_HEADER_BYTES[family] - headerBytes;
  const payload = new Uint8Array(Math.max(least, wanted));
  payload.set(randomBytes(COOKIE_BYTES), 2);
  payload.set(words, PREFIX_BYTES);
  return payload;
}

/**
 * Whether a quotation has the cookie; `cut off` if it has only a part of it or nothing there, or the zeros with which
 * RFC 4884 pads it.
 */
export function startsWith(bytes: Uint8Array, cookie: Uint8Array): 'yes' | 'no' | 'cut off' {
  const there = bytes.subarray(0, cookie.length);
  if (there.every((byte) => byte === 0)) return 'cut off';
  if (there.length < cookie.length) return there.every((byte, at) => byte === cookie[at]) ? 'cut off' : 'no';
  return Buffer.compare(there, cookie) === 0 ? 'yes' : 'no';
}
