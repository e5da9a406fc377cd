/** Types of frames (RFC 9113 section 6). */
export const frameTypes = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const flags = { endStream: 0x1, ack: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const;

export interface Http2Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** Default of SETTINGS_MAX_FRAME_SIZE, which the client does not change, bytes. */
export const MAX_FRAME_BYTES = 16_384;
const HEADER_BYTES = 9;

/**
 * Splits the bytes of a connection into frames.
 *
 * @returns a function that takes the next bytes; false once a frame exceeds the limit (RFC 9113 section 4.2), or `take`
 *   returned false
 */
export function frameReader(take: (frame: Http2Frame) => boolean): (bytes: Buffer) => boolean {
  let pieces: Buffer[] = [];
  let waiting = 0;
  let wanted = HEADER_BYTES;
  return (bytes) => {
    pieces.push(bytes);
    waiting += bytes.length;
    if (waiting < wanted) return true;
    const all = Buffer.concat(pieces);
    let at = 0;
    wanted = HEADER_BYTES;
    while (all.length - at >= HEADER_BYTES) {
      const length = all.readUIntBE(at, 3);
      if (length > MAX_FRAME_BYTES) return false;
      wanted = HEADER_BYTES + length;
      if (all.length - at < wanted) break;
      const stream = all.readUInt32BE(at + 5) & 0x7fff_ffff;
      const payload = all.subarray(at + HEADER_BYTES, at + wanted);
      if (!take({ type: all[at + 3]!, flags: all[at + 4]!, stream, payload })) return false;
      at += wanted;
      wanted = HEADER_BYTES;
    }
    pieces = [all.subarray(at)];
    waiting = all.length - at;
    return true;
  };
}

export function writeFrame(type: number, flag: number, stream: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUIntBE(payload.length, 0, 3);
  header.writeUInt8(type, 3);
  header.writeUInt8(flag, 4);
  header.writeUInt32BE(stream, 5);
  return Buffer.concat([header, payload]);
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Types of frames that may be padded; on others the flag is ignored (RFC 9113 section 4.1). */
const paddedFrames: ReadonlySet<number> = new Set([frameTypes.data, frameTypes.headers, frameTypes.pushPromise]);

/** The payload without padding and priority; undefined if the frame is too short for them. */
export function contentOf({ type, flags: set, payload }: Http2Frame): Buffer | undefined {
  const isPadded = paddedFrames.has(type) && (set & flags.padded) !== 0;
  const padding = isPadded ? (payload[0] ?? 0) : 0;
  const start = (isPadded ? 1 : 0) + (type === frameTypes.headers && (set & flags.priority) !== 0 ? 5 : 0);
  const end = payload.length - padding;
  return end < start ? undefined : payload.subarray(start, end);
}
