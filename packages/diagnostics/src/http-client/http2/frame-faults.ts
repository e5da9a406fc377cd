import { flags, frameTypes, type Http2Frame } from './frames.ts';

/** The stream of the one request of a connection. */
export const STREAM = 1;

/** Types of frames that are allowed only on the stream of the request. */
const streamFrames: ReadonlySet<number> = new Set([
  frameTypes.data,
  frameTypes.headers,
  frameTypes.rstStream,
  frameTypes.continuation,
]);
/** Types of frames that are allowed only on the connection (stream 0). */
const connectionFrames: ReadonlySet<number> = new Set([frameTypes.settings, frameTypes.ping, frameTypes.goaway]);
/** Payload sizes of the types of frames with a fixed size, bytes. */
const sizes: ReadonlyMap<number, number> = new Map([
  [frameTypes.priority, 5],
  [frameTypes.rstStream, 4],
  [frameTypes.ping, 8],
  [frameTypes.windowUpdate, 4],
]);

/** Why a frame is not allowed at this point; null if it is. */
export function frameFault(
  { type, flags: set, stream, payload }: Http2Frame,
  isSettled: boolean,
  isInBlock: boolean,
): string | null {
  if (!isSettled && (type !== frameTypes.settings || (set & flags.ack) !== 0)) {
    return 'it does not begin with SETTINGS (RFC 9113 section 3.4)';
  }
  if (isInBlock !== (type === frameTypes.continuation)) return 'a head is broken off (RFC 9113 section 6.10)';
  if (type === frameTypes.pushPromise) return 'it pushes, which was switched off (RFC 9113 section 6.6)';
  if (streamFrames.has(type) && stream !== STREAM)
    return 'a frame is on a stream that is not there (RFC 9113 section 5.1)';
  if (connectionFrames.has(type) && stream !== 0)
    return 'a frame of the connection is on a stream (RFC 9113 section 6)';
  const size = sizes.get(type) ?? payload.length;
  const isOdd =
    type === frameTypes.settings && (payload.length % 6 !== 0 || ((set & flags.ack) !== 0 && payload.length > 0));
  if (payload.length !== size || isOdd) return 'a frame has the wrong size (RFC 9113 section 4.2)';
  if (type === frameTypes.windowUpdate && payload.readUInt32BE(0) << 1 === 0) {
    return 'a WINDOW_UPDATE adds nothing (RFC 9113 section 6.9)';
  }
  return null;
}
