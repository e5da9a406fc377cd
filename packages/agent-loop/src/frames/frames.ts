import { deflateRawSync, inflateRawSync } from 'node:zlib';

import { COMPRESS_ABOVE_BYTES, MAX_GATEWAY_MESSAGE_BYTES, SCREENSHOT_PIECE_BYTES } from '@vantage/contract';

/** First byte of a binary frame with a compressed message. */
const COMPRESSED = 1;
/** First byte of a binary frame with a piece of a screenshot. */
const PIECE = 2;

/** Bytes of the head of a piece: one for its type, four for the number of the message, four for that of the upload. */
const PIECE_HEAD_BYTES = 9;

export interface UploadPiece {
  readonly seq: number;
  readonly upload: number;
  readonly bytes: Buffer;
}

export type Frame =
  | { readonly kind: 'message'; readonly message: unknown; /** Size without compression. */ readonly bytes: number }
  | ({ readonly kind: 'piece' } & UploadPiece)
  | { readonly kind: 'fault'; readonly reason: string; /** Close code. */ readonly code: 1009 | 4400 };

/**
 * Encodes a message as the payload of a frame: as text, or compressed if it has more than
 * `COMPRESS_ABOVE_BYTES`.
 */
export function encodeMessage(message: unknown): string | Buffer {
  const json = JSON.stringify(message);
  if (Buffer.byteLength(json) <= COMPRESS_ABOVE_BYTES) return json;
  return Buffer.concat([Buffer.of(COMPRESSED), deflateRawSync(json, { level: 1 })]);
}

export function encodePiece({ seq, upload, bytes }: UploadPiece): Buffer {
  const head = Buffer.alloc(PIECE_HEAD_BYTES);
  head.writeUInt8(PIECE, 0);
  head.writeUInt32BE(seq, 1);
  head.writeUInt32BE(upload, 5);
  return Buffer.concat([head, bytes]);
}

/** Decodes the payload of a frame. Never throws: an invalid payload is a fault. */
export function decodeFrame(payload: Buffer, isBinary: boolean): Frame {
  try {
    if (!isBinary) return { kind: 'message', message: JSON.parse(payload.toString()), bytes: payload.length };
    const type = payload[0];
    if (type === COMPRESSED) {
      const json = inflateRawSync(payload.subarray(1), { maxOutputLength: MAX_GATEWAY_MESSAGE_BYTES });
      return { kind: 'message', message: JSON.parse(json.toString()), bytes: json.length };
    }
    if (type !== PIECE || payload.length <= PIECE_HEAD_BYTES) return fault('unknown frame');
    if (payload.length > PIECE_HEAD_BYTES + SCREENSHOT_PIECE_BYTES) return fault('piece too large', 1009);
    return {
      kind: 'piece',
      seq: payload.readUInt32BE(1),
      upload: payload.readUInt32BE(5),
      bytes: payload.subarray(PIECE_HEAD_BYTES),
    };
  } catch (error) {
    const isTooLarge = Error.isError(error) && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    return isTooLarge ? fault('message too large', 1009) : fault('unreadable message');
  }
}

function fault(reason: string, code: 1009 | 4400 = 4400): Frame {
  return { kind: 'fault', reason, code };
}
