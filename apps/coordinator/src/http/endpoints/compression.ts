import { promisify } from 'node:util';
import { brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from 'node:zlib';

import type { Request } from 'express';
import { LRUCache } from 'lru-cache';

/**
 * Bodies contain no cookies and no credentials that their compressed sizes could reveal (BREACH). Event streams are not
 * compressed unless all of their events are known.
 */
export type Encoding = 'br' | 'gzip';

/** Size from which responses are compressed: for shorter ones it would save a packet at most. */
const MIN_BYTES = 1_400;

/** Size up to which a response is compressed at once, in about 0.2 ms at most. */
const SMALL_BYTES = 16_384;
/** Levels for small responses: half of the CPU for up to a tenth more bytes. */
const [BROTLI_QUALITY_SMALL, GZIP_LEVEL_SMALL] = [2, 1];

/** Brotli level, unless `keepCompressed` keeps the result. */
const BROTLI_QUALITY = 4;
/** Brotli level of the forms that `keepCompressed` keeps. */
const BROTLI_QUALITY_KEPT = 9;

const asBrotli = promisify(brotliCompress);
const asGzip = promisify(gzip);

/**
 * The first of `br` and `gzip` that the client accepts, whatever its preference; undefined if it accepts neither, and
 * for less than `MIN_BYTES`.
 */
export function encodingFor(request: Request, bytes: number): Encoding | undefined {
  if (bytes < MIN_BYTES) return undefined;
  return (['br', 'gzip'] as const).find((encoding) => request.acceptsEncodings(encoding) === encoding);
}

/**
 * Compresses small bodies at once, and others on the thread pool of libuv, which costs more in all. The level of kept
 * forms takes milliseconds, and always uses the pool.
 */
export async function compress(bytes: Buffer, encoding: Encoding, quality = BROTLI_QUALITY): Promise<Buffer> {
  const isSmall = bytes.length <= SMALL_BYTES && quality < BROTLI_QUALITY_KEPT;
  if (encoding === 'gzip') return isSmall ? gzipSync(bytes, { level: GZIP_LEVEL_SMALL }) : asGzip(bytes);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: isSmall ? BROTLI_QUALITY_SMALL : quality,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  return isSmall ? brotliCompressSync(bytes, { params }) : asBrotli(bytes, { params });
}

/** Keeps the compressed forms of bytes that never change; each is made on first use. */
export function keepCompressed(bytes: Buffer): (encoding: Encoding) => Promise<Buffer> {
  const kept = new Map<Encoding, Promise<Buffer>>();
  return (encoding) => {
    const made = kept.get(encoding) ?? compress(bytes, encoding, BROTLI_QUALITY_KEPT);
    kept.set(encoding, made);
    return made;
  };
}

/** LRU cache of the compressed forms of responses that many clients request. */
export interface CompressedCache {
  /** @param tag identifies the bytes: a hash of them, or a check and its final version */
  readonly of: (tag: string, bytes: Buffer, encoding: Encoding) => Promise<Buffer>;
}

const MAX_KEPT_BYTES = 16 * 1_048_576;
/**
 * Memory of an entry in addition to its bytes: V8 objects, malloc overhead and the key, 700 to 1,100 bytes in
 * measurements.
 */
const ENTRY_BYTES = 1_024;

/** @param maxBytes limit of all compressed forms, each with `ENTRY_BYTES` */
export function createCompressedCache(maxBytes = MAX_KEPT_BYTES, make: typeof compress = compress): CompressedCache {
  const kept = new LRUCache<string, Buffer>({
    maxSize: maxBytes,
    sizeCalculation: ({ length }) => length + ENTRY_BYTES,
  });
  const underWay = new Map<string, Promise<Buffer>>();
  return {
    of: (tag, bytes, encoding) => {
      const key = `${tag} ${encoding}`;
      const known = kept.get(key);
      if (known !== undefined) return Promise.resolve(known);
      const same = underWay.get(key);
      if (same !== undefined) return same;
      const making = make(bytes, encoding)
        .then((made) => {
          const copy = copyOf(made);
          kept.set(key, copy);
          return copy;
        })
        .finally(() => underWay.delete(key));
      underWay.set(key, making);
      return making;
    },
  };
}

/**
 * Copies bytes into memory of that size: the output of zlib is a part of a block of 16 KiB or more, which stays with
 * it.
 */
function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
