import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflateRaw } from 'node:zlib';

import type { RequestRules } from './request-rules.ts';

type Compression = NonNullable<RequestRules['compression']>;

export interface Decoded {
  readonly content: Buffer;
  /** Size of the decoded content; `maxBytes` if there is more, 0 if it cannot be decoded. */
  readonly bytes: number;
  /** True if all of the body is valid, and its content within the bound. */
  readonly whole: boolean;
}

/** Codings as in blackbox_exporter: `deflate` has no zlib wrapper. */
const decoders = { gzip: promisify(gunzip), br: promisify(brotliDecompress), deflate: promisify(inflateRaw) } as const;

/** Node's types lack the result of `info`. */
interface WithInfo {
  readonly buffer: Buffer;
  /** `bytesWritten` is the number of input bytes that the data took. */
  readonly engine: { readonly bytesWritten: number };
}

/**
 * Decodes a body with the coding that the module specifies; without content if it is damaged or has more than
 * `maxBytes`.
 */
export async function decodeBody(body: Buffer, { coding, maxBytes }: Compression): Promise<Decoded> {
  try {
    const decoded = await decoders[coding](body, { info: true, maxOutputLength: maxBytes });
    const { buffer, engine } = decoded as unknown as WithInfo;
    // Go's decoders refuse bytes after the end of the data, except the one for deflate.
    const whole = coding === 'deflate' || engine.bytesWritten === body.length;
    return { content: buffer, bytes: buffer.length, whole };
  } catch (error) {
    const isTooLarge = Error.isError(error) && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    return { content: Buffer.alloc(0), bytes: isTooLarge ? maxBytes : 0, whole: false };
  }
}
