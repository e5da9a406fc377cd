/**
 * Frames between the agent and its packet process: a length of four bytes, then the data. A length of zero or above the
 * limit means lost synchronisation, and nothing after it can be trusted.
 */
export const MAX_FRAME_BYTES = 4_096;

const HEADER_BYTES = 4;

export function frame(body: Uint8Array): Buffer {
  if (body.length === 0 || body.length > MAX_FRAME_BYTES) throw new RangeError(`A frame of ${body.length} bytes.`);
  const framed = Buffer.allocUnsafe(HEADER_BYTES + body.length);
  framed.writeUInt32BE(body.length, 0);
  framed.set(body, HEADER_BYTES);
  return framed;
}

/** Splits a byte stream into frames, independently of its segmentation. */
export interface FrameReader {
  /**
   * The bodies that this piece completes. They may share the memory of the piece, so it must not be reused.
   *
   * @throws RangeError on an impossible length
   */
  readonly push: (piece: Buffer) => Buffer[];
}

export function frameReader(): FrameReader {
  let rest: Buffer = Buffer.alloc(0);
  const push = (piece: Buffer): Buffer[] => {
    rest = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    const bodies: Buffer[] = [];
    while (rest.length >= HEADER_BYTES) {
      const bodyBytes = rest.readUInt32BE(0);
      if (bodyBytes === 0 || bodyBytes > MAX_FRAME_BYTES) throw new RangeError(`A frame of ${bodyBytes} bytes.`);
      if (rest.length < HEADER_BYTES + bodyBytes) break;
      bodies.push(rest.subarray(HEADER_BYTES, HEADER_BYTES + bodyBytes));
      rest = rest.subarray(HEADER_BYTES + bodyBytes);
    }
    return bodies;
  };
  return { push };
}
