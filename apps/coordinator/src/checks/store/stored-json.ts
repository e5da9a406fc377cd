import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** Shorter results stay as they are: they would win little, and most are. */
const MIN_BYTES = 4_096;
/** JSON begins with a brace. */
const PREFIX = 'z:';
/** No result is longer: what decompresses to more was not written here. */
const MAX_OUTPUT_BYTES = 8 * 1_048_576;

/** A final result as it is stored: what is long as zstd in base64, since the replies of Redis are read as text. */
export function toStored(json: string): string {
  if (json.length < MIN_BYTES) return json;
  // Level 1 takes half of the time of deflate for the same size; higher levels win some bytes in a hundred.
  const params = { [constants.ZSTD_c_compressionLevel]: 1 };
  const packed = PREFIX + zstdCompressSync(json, { params }).toString('base64');
  return packed.length < json.length ? packed : json;
}

/** The JSON of a stored result, packed or not. */
export function fromStored(stored: string): string {
  if (!stored.startsWith(PREFIX)) return stored;
  const packed = Buffer.from(stored.slice(PREFIX.length), 'base64');
  return zstdDecompressSync(packed, { maxOutputLength: MAX_OUTPUT_BYTES }).toString();
}
