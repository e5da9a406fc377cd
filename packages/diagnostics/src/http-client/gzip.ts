import { crc32, inflateRawSync } from 'node:zlib';

import { MAX_BODY_BYTES } from './bounds.ts';

/** Flags of a gzip header (RFC 1952 section 2.3.1). */
const [FHCRC, FEXTRA, FNAME, FCOMMENT] = [0x02, 0x04, 0x08, 0x10];
const HEADER_BYTES = 10;
const TRAILER_BYTES = 8;

/** True for a valid gzip member of at most `MAX_BODY_BYTES` of data, followed by at least one byte. */
export function isGzipAndMore(bytes: Buffer): boolean {
  const start = deflatedFrom(bytes);
  if (start === undefined) return false;
  try {
    const { buffer, engine } = inflate(bytes.subarray(start));
    const trailer = start + engine.bytesWritten;
    if (trailer + TRAILER_BYTES >= bytes.length) return false;
    return bytes.readUInt32LE(trailer) === crc32(buffer) && bytes.readUInt32LE(trailer + 4) === buffer.length;
  } catch {
    return false;
  }
}

interface Inflated {
  readonly buffer: Buffer;
  /** `bytesWritten` is the number of input bytes that the data took. */
  readonly engine: { readonly bytesWritten: number };
}

/** Node's types lack the result of `info`. */
function inflate(bytes: Buffer): Inflated {
  return inflateRawSync(bytes, { info: true, maxOutputLength: MAX_BODY_BYTES }) as unknown as Inflated;
}

/** Offset of the deflate data in a gzip member; undefined without a gzip header. */
function deflatedFrom(bytes: Buffer): number | undefined {
  if (bytes.length < HEADER_BYTES || bytes.readUInt16BE(0) !== 0x1f8b || bytes[2] !== 8) return undefined;
  const flags = bytes[3]!;
  let at = HEADER_BYTES;
  if ((flags & FEXTRA) !== 0) at += at + 2 > bytes.length ? Infinity : 2 + bytes.readUInt16LE(at);
  for (const flag of [FNAME, FCOMMENT]) {
    if ((flags & flag) === 0) continue;
    const end = bytes.indexOf(0, at);
    if (end === -1) return undefined;
    at = end + 1;
  }
  return at + ((flags & FHCRC) === 0 ? 0 : 2);
}
