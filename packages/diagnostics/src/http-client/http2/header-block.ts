import { MAX_HEAD_BYTES } from '../bounds.ts';
import { flags, frameTypes, type Http2Frame } from './frames.ts';
import type { Fields } from './head.ts';
import { hpackDecoder } from './hpack.ts';

/** Maximum number of frames per header block, more than `MAX_HEAD_BYTES` needs: it bounds empty frames. */
const MAX_CONTINUATIONS = 64;

export type ReadBlock =
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'too large' }
  | { readonly kind: 'malformed'; readonly reason: string }
  /** `isLast`: the block ends the stream. */
  | { readonly kind: 'fields'; readonly fields: Fields; readonly isLast: boolean };

/** Joins the frames of each header block of a connection, and decodes it (RFC 9113 section 4.3). */
export class HeaderBlocks {
  private readonly decode = hpackDecoder(MAX_HEAD_BYTES);
  private open: { readonly isLast: boolean; pieces: Buffer[]; bytes: number } | null = null;

  /** Whether a block has begun that has not ended. */
  get isOpen(): boolean {
    return this.open !== null;
  }

  /** Takes HEADERS, or CONTINUATION if a block is open. */
  take(frame: Http2Frame, content: Buffer): ReadBlock {
    if (frame.type === frameTypes.headers) {
      this.open = { isLast: (frame.flags & flags.endStream) !== 0, pieces: [], bytes: 0 };
    }
    const open = this.open!;
    open.pieces.push(content);
    open.bytes += content.length;
    if (open.bytes > MAX_HEAD_BYTES) return { kind: 'too large' };
    if (open.pieces.length > MAX_CONTINUATIONS) return malformed('its head is in too many frames');
    if ((frame.flags & flags.endHeaders) === 0) return { kind: 'incomplete' };
    this.open = null;
    const decoded = this.decode(Buffer.concat(open.pieces));
    if (decoded.fault === 'too large') return { kind: 'too large' };
    if (decoded.fault !== null) return malformed('its head is not compressed as HPACK has it (RFC 7541)');
    return { kind: 'fields', fields: decoded.fields, isLast: open.isLast };
  }
}

function malformed(reason: string): ReadBlock {
  return { kind: 'malformed', reason };
}
