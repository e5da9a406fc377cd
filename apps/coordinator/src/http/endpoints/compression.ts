import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

import type { Request } from 'express';

/**
 * What is compressed holds no secret beside what a caller chooses (BREACH): there are no cookies and no credentials, and
 * `GET /me`, which shows who calls, takes no input and is too small. Streams of events are never compressed.
 */
export type Encoding = 'br' | 'gzip';

/** One packet carries it as it is. */
const MIN_BYTES = 1_400;

/** What it costs grows faster than what it saves; the texts that are kept are compressed once. */
const BROTLI_QUALITY = 4;
const BROTLI_QUALITY_KEPT = 9;

const asBrotli = promisify(brotliCompress);
const asGzip = promisify(gzip);

/** The best of what `Accept-Encoding` takes, undefined for none. */
export function encodingFor(request: Request, bytes: number): Encoding | undefined {
  if (bytes < MIN_BYTES) return undefined;
  return (['br', 'gzip'] as const).find((encoding) => request.acceptsEncodings(encoding) === encoding);
}

/** On a thread of libuv's. */
export function compress(bytes: Buffer, encoding: Encoding, quality = BROTLI_QUALITY): Promise<Buffer> {
  if (encoding === 'gzip') return asGzip(bytes);
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  return asBrotli(bytes, { params });
}

/** For bytes that never change: each encoding is made when it is first asked for. */
export function keepCompressed(bytes: Buffer): (encoding: Encoding) => Promise<Buffer> {
  const kept = new Map<Encoding, Promise<Buffer>>();
  return (encoding) => {
    const made = kept.get(encoding) ?? compress(bytes, encoding, BROTLI_QUALITY_KEPT);
    kept.set(encoding, made);
    return made;
  };
}

/** Compressed forms of answers that many clients ask for, the most recently used ones. */
export interface CompressedCache {
  /** @param tag of the bytes, by their content */
  readonly of: (tag: string, bytes: Buffer, encoding: Encoding) => Promise<Buffer>;
}

const MAX_KEPT_BYTES = 16 * 1_048_576;

/** @param maxBytes bound of all compressed forms together */
export function createCompressedCache(maxBytes = MAX_KEPT_BYTES, make: typeof compress = compress): CompressedCache {
  /** In the order of their last use. */
  const kept = new Map<string, Promise<Buffer>>();
  const sizes = new Map<string, number>();
  let total = 0;

  const drop = (key: string): void => {
    kept.delete(key);
    total -= sizes.get(key) ?? 0;
    sizes.delete(key);
  };

  const keep = (key: string, made: Promise<Buffer>): void => {
    kept.set(key, made);
    made.then(
      ({ length }) => {
        if (kept.get(key) !== made) return;
        sizes.set(key, length);
        total += length;
        for (const oldest of sizes.keys()) {
          if (total <= maxBytes) return;
          drop(oldest);
        }
      },
      () => drop(key),
    );
  };

  return {
    of: (tag, bytes, encoding) => {
      const key = `${tag} ${encoding}`;
      const known = kept.get(key);
      if (known === undefined) {
        const made = make(bytes, encoding);
        keep(key, made);
        return made;
      }
      const size = sizes.get(key);
      if (size !== undefined) {
        sizes.delete(key);
        sizes.set(key, size);
      }
      return known;
    },
  };
}
