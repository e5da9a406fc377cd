import { createHash } from 'node:crypto';
import type { Transform } from 'node:stream';
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';

import { MAX_BODY_BYTES } from './bounds.ts';
import { isGzipAndMore } from './gzip.ts';

/** Size and hash of a body; its bytes are not kept. */
export interface Body {
  readonly bodyBytes: number;
  readonly bodySha256: string;
  readonly truncated: boolean;
}

export interface BodyReader {
  /** Adds the next bytes; `false` if they exceed the cap. */
  readonly push: (bytes: Uint8Array) => boolean;
  /**
   * Ends the body.
   *
   * @param complete false if it was truncated
   */
  readonly finish: (complete: boolean) => Promise<Decoded>;
  /** The body so far, without waiting for the decoder. */
  readonly breakOff: () => Body;
}

interface Decoded {
  readonly body: Body;
  /** False if a complete body does not decode to its end, or to the limit of decoded bytes. */
  readonly decodable: boolean;
  /** True if bytes follow the end of the gzip data. */
  readonly hasTrailingBytes: boolean;
}

/**
 * Counts and hashes a body up to its cap, and checks whether it decodes as its Content-Encoding claims.
 *
 * @param maxBytes limit of the body as sent
 * @param onBytes called with the bytes up to the limit
 */
export function readBody(
  contentEncoding: string | undefined,
  maxBytes: number,
  onBytes?: (bytes: Uint8Array) => void,
): BodyReader {
  const hash = createHash('sha256');
  let bodyBytes = 0;
  let full = false;
  let decoder: Decoder | undefined;
  // The compressed bytes for a lenient decoder if the strict one fails; bounded like the body.
  const gzipped: Uint8Array[] | undefined = isGzip(contentEncoding) ? [] : undefined;

  const push = (bytes: Uint8Array): boolean => {
    const kept = bytes.subarray(0, maxBytes - bodyBytes);
    full = kept.length < bytes.length;
    if (kept.length === 0) return !full;
    decoder ??= startDecoder(contentEncoding, kept[0]!);
    bodyBytes += kept.length;
    hash.update(kept);
    onBytes?.(kept);
    decoder?.write(kept);
    gzipped?.push(kept);
    return !full;
  };
  const describe = (truncated: boolean): Body => ({ bodyBytes, bodySha256: hash.digest('hex'), truncated });

  return {
    push,
    finish: async (complete) => {
      if (!complete || full) {
        decoder?.stop();
        return { body: describe(true), decodable: true, hasTrailingBytes: false };
      }
      const decoded = (await decoder?.end()) ?? 'whole';
      const hasTrailingBytes = decoded === 'broken' && gzipped !== undefined && isGzipAndMore(Buffer.concat(gzipped));
      const decodable = ['whole', 'too large'].includes(decoded) || hasTrailingBytes;
      return { body: describe(decoded === 'too large' || decoded === 'cut'), decodable, hasTrailingBytes };
    },
    breakOff: () => {
      decoder?.stop();
      return describe(true);
    },
  };
}

/** `cut`: the body is valid and ends before its coding does. */
type Decoding = 'whole' | 'too large' | 'broken' | 'cut';

interface Decoder {
  readonly write: (bytes: Uint8Array) => void;
  readonly end: () => Promise<Decoding>;
  readonly stop: () => void;
}

/** Counts decoded bytes and stops at the cap: 158 bytes of Brotli can expand to 100 MB. */
function startDecoder(contentEncoding: string | undefined, firstByte: number): Decoder | undefined {
  const stream = decoderOf(codingOf(contentEncoding), firstByte);
  if (stream === undefined) return undefined;

  const ended = Promise.withResolvers<Decoding>();
  let decodedBytes = 0;
  stream.on('data', (bytes: Buffer) => {
    decodedBytes += bytes.length;
    if (decodedBytes <= MAX_BODY_BYTES) return;
    ended.resolve('too large');
    stream.destroy();
  });
  stream.on('end', () => ended.resolve('whole'));
  stream.on('error', ({ code }: NodeJS.ErrnoException) => ended.resolve(code === 'Z_BUF_ERROR' ? 'cut' : 'broken'));
  return {
    write: (bytes) => {
      if (!stream.destroyed) stream.write(bytes);
    },
    end: () => {
      if (!stream.destroyed) stream.end();
      return ended.promise;
    },
    stop: () => {
      ended.resolve('too large');
      stream.destroy();
    },
  };
}

function codingOf(contentEncoding: string | undefined): string | undefined {
  return contentEncoding?.trim().toLowerCase();
}

function isGzip(contentEncoding: string | undefined): boolean {
  return ['gzip', 'x-gzip'].includes(codingOf(contentEncoding) ?? '');
}

/**
 * The decoder of a content coding (RFC 9110 section 8.4.1, RFC 7932, RFC 8878); undefined for other codings, and for
 * several.
 */
function decoderOf(coding: string | undefined, firstByte: number): Transform | undefined {
  if (coding === 'gzip' || coding === 'x-gzip') return createGunzip();
  if (coding === 'br') return createBrotliDecompress();
  // RFC 9659 limits the window of this content coding to 8 MiB (2^23); by default the decoder accepts 128 MiB.
  if (coding === 'zstd') return createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: 23 } });
  // Servers disagree on whether `deflate` has the zlib wrapper; the first byte decides (RFC 1950 section 2.2).
  if (coding === 'deflate') return (firstByte & 0x0f) === 8 ? createInflate() : createInflateRaw();
  return undefined;
}
