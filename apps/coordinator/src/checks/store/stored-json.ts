import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

import { DICTIONARY } from './stored-dictionary.ts';

/** Shorter results stay as they are: they would win little, and most are. */
const MIN_BYTES = 2_048;
/** JSON begins with a brace. */
const PREFIX = 'y:';
/** As stored before there was a dictionary. */
const PREFIX_WITHOUT_DICTIONARY = 'z:';
/** No result is longer: what decompresses to more was not written here. */
const MAX_OUTPUT_BYTES = 8 * 1_048_576;

/** A final result as it is stored: what is long as zstd in base64, since the replies of Redis are read as text. */
export function toStored(json: string): string {
  if (json.length < MIN_BYTES) return json;
  // Level 1 takes half of the time of deflate for the same size; higher levels win some bytes in a hundred.
  const params = { [constants.ZSTD_c_compressionLevel]: 1 };
  const packed = PREFIX + zstdCompressSync(json, { params, dictionary: DICTIONARY }).toString('base64');
  return packed.length < json.length ? packed : json;
}

/** The JSON of a stored result, packed or not. */
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
