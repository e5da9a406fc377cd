import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

import { DICTIONARY } from './stored-dictionary.ts';

/** Length from which results are compressed; shorter ones would save little. */
const MIN_BYTES = 2_048;
/** Prefix of compressed values. JSON begins with a brace. */
const PREFIX = 'y:';
/** Prefix of compressed results stored by releases without a dictionary. */
const PREFIX_WITHOUT_DICTIONARY = 'z:';
/** Maximum size after decompression, larger than any result: longer output was not written by a coordinator. */
const MAX_OUTPUT_BYTES = 8 * 1_048_576;

/**
 * Encodes a final result for storage. One of `MIN_BYTES` or more is compressed with zstd, if that makes it shorter, and
 * written in base64, because Redis replies are read as text.
 */
export function toStored(json: string): string {
  if (json.length < MIN_BYTES) return json;
  const params = { [constants.ZSTD_c_compressionLevel]: 1 };
  const packed = PREFIX + zstdCompressSync(json, { params, dictionary: DICTIONARY }).toString('base64');
  return packed.length < json.length ? packed : json;
}

/** Decodes a stored result, compressed or not. */
export function fromStored(stored: string): string {
  if (stored.startsWith(PREFIX)) {
    return unpack(stored.slice(PREFIX.length), { maxOutputLength: MAX_OUTPUT_BYTES, dictionary: DICTIONARY });
  }
  if (!stored.startsWith(PREFIX_WITHOUT_DICTIONARY)) return stored;
  return unpack(stored.slice(PREFIX_WITHOUT_DICTIONARY.length), { maxOutputLength: MAX_OUTPUT_BYTES });
}

function unpack(base64: string, options: Parameters<typeof zstdDecompressSync>[1]): string {
  return zstdDecompressSync(Buffer.from(base64, 'base64'), options).toString();
}
