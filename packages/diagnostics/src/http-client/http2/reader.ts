import type { Head } from '../response-head.ts';
import type { Deviates } from '../head-lines.ts';
import { hpackDecoder } from './hpack.ts';
import { contentOf, errorName, flags, frameReader, frameTypes, uint32, writeFrame, type Frame } from './frames.ts';
import { fieldFault, readHttp2Head } from './head.ts';
import type { Method } from '../request.ts';
import { MAX_HEAD_BYTES } from '../response-reader.ts';

/** The error that the peer gave for its end of a stream or of the connection. */
export interface PeerError {
  readonly frame: 'RST_STREAM' | 'GOAWAY';
  readonly code: number;
  readonly name: string;
  /** What GOAWAY says besides, one character per byte. */
  readonly debug: string | null;
  /** It says that the request was not taken up, so that it may be sent again (RFC 9113 sections 6.8 and 8.7). */
  readonly isUnprocessed: boolean;
}

/** Why an answer of HTTP/2 cannot be read on. */
export type Http2Fault =
  | { readonly kind: 'malformed'; readonly reason: string }
  | { readonly kind: 'too large' }
  /** The connection ended before the answer did. */
  | { readonly kind: 'closed' }
  | { readonly kind: 'peer'; readonly error: PeerError };

/** Where an answer goes as it is read. After `end` or `fault` nothing follows. */
export interface Http2Sink {
  /** The first HEADERS frame. */
  readonly firstByte: () => void;
  readonly interim: () => void;
  readonly head: (head: Head) => void;
  readonly body: (bytes: Uint8Array) => void;
  readonly end: () => void;
  readonly fault: (fault: Http2Fault) => void;
  readonly deviation: Deviates;
  /** What the protocol has to be answered with. */
  readonly reply: (frame: Buffer) => void;
}

export interface Http2Reader {
  readonly push: (bytes: Buffer) => void;
  /** The connection came to its end in good order. */
  readonly close: () => void;
}

/** The stream of the one request of a connection. */
export const STREAM = 1;
/** RFC 9113 section 7. */
const [NO_ERROR, REFUSED_STREAM] = [0, 7];
/** Padding that the windows have room for besides the body: what is more gives the windows as much back (RFC 9113 section 6.1). */
export const MAX_PADDING_BYTES = 4_096;
/** A head of 256 KiB takes 16 frames of full size. */
const MAX_CONTINUATIONS = 64;
/** Replies to SETTINGS and PING; more of them are a flood, which the bound on received bytes ends. */
const MAX_REPLIES = 1_000;

/**
 * Reads the answer to the one request of an HTTP/2 connection (RFC 9113), frame by frame: who ended a stream, and by which
 * code, is part of a result. It does no I/O.
 */
export function readHttp2(method: Method, sink: Http2Sink): Http2Reader {
  const decode = hpackDecoder(MAX_HEAD_BYTES);
  let isOver = false;
  let isSettled = false;
  let head: Head | null = null;
  let block: { readonly isLast: boolean; pieces: Buffer[]; bytes: number } | null = null;
  let bodyBytes = 0;
  let replies = 0;
  let paddingBytes = 0;
  let goaway: PeerError | null = null;

  const fail = (fault: Http2Fault): void => {
    isOver = true;
    sink.fault(fault);
  };
  const malformed = (reason: string): void => fail({ kind: 'malformed', reason });
  const finish = (): void => {
    if (head === null) return malformed('it has no head (RFC 9113 section 8.1)');
    if (hasContent(method, head)) lintLength(head, bodyBytes, sink.deviation);
    else if (bodyBytes > 0) sink.deviation('body_unexpected');
    isOver = true;
    sink.end();
  };
  const reply = (type: number, payload: Buffer): void => {
    replies += 1;
    if (replies <= MAX_REPLIES) sink.reply(writeFrame(type, flags.ack, 0, payload));
  };

  const takeBlock = (bytes: Buffer, isLast: boolean): void => {
    const decoded = decode(bytes);
    if (decoded.fault === 'too large') return fail({ kind: 'too large' });
    if (decoded.fault !== null) return malformed('its head is not compressed as HPACK has it (RFC 7541)');
    if (head !== null) {
      const fault = isLast
        ? fieldFault(decoded.fields, [], sink.deviation)
        : 'a second head follows the first (RFC 9113 section 8.1)';
      return fault === null ? finish() : malformed(fault);
    }
    const read = readHttp2Head(decoded.fields, sink.deviation);
    const isInterim = read.head !== null && read.head.statusCode < 200;
    if (read.head !== null && !isInterim) {
      head = read.head;
      sink.head(read.head);
    }
    if (read.fault !== null) return malformed(read.fault);
    if (!isInterim) return isLast ? finish() : undefined;
    if (isLast) return malformed('it ends with an interim answer (RFC 9113 section 8.1)');
    if (read.head?.statusCode === 101)
      return malformed('it switches protocols, which HTTP/2 does not (RFC 9113 section 8.6)');
    sink.interim();
  };
  const takeHeaders = (frame: Frame, content: Buffer): void => {
    if (frame.type === frameTypes.continuation) block!.pieces.push(content);
    else {
      sink.firstByte();
      block = { isLast: (frame.flags & flags.endStream) !== 0, pieces: [content], bytes: 0 };
    }
    const open = block!;
    open.bytes += content.length;
    if (open.bytes > MAX_HEAD_BYTES) return fail({ kind: 'too large' });
    if (open.pieces.length > MAX_CONTINUATIONS) return malformed('its head is in too many frames');
    if ((frame.flags & flags.endHeaders) === 0) return;
    block = null;
    takeBlock(Buffer.concat(open.pieces), open.isLast);
  };
  const takeData = (frame: Frame, content: Buffer): void => {
    if (head === null) return malformed('its body comes before its head (RFC 9113 section 8.1)');
    bodyBytes += content.length;
    if (content.length > 0 && hasContent(method, head)) sink.body(content);
    if ((frame.flags & flags.endStream) !== 0) return finish();
    paddingBytes += frame.payload.length - content.length;
    if (paddingBytes < MAX_PADDING_BYTES / 2) return;
    for (const stream of [0, STREAM]) sink.reply(writeFrame(frameTypes.windowUpdate, 0, stream, uint32(paddingBytes)));
    paddingBytes = 0;
  };
  const takeGoaway = ({ payload }: Frame): void => {
    if (payload.length < 8) return malformed('a GOAWAY frame is too short (RFC 9113 section 6.8)');
    const [code, isTakenUp] = [payload.readUInt32BE(4), (payload.readUInt32BE(0) & 0x7fff_ffff) >= STREAM];
    goaway = peerError('GOAWAY', code, payload.subarray(8).toString('latin1'), !isTakenUp && code === NO_ERROR);
    // The answer may still come where the request was taken up.
    if (!isTakenUp) fail({ kind: 'peer', error: goaway });
  };
  const take = (frame: Frame): boolean => {
    const fault = frameFault(frame, isSettled, block !== null);
    const content = contentOf(frame);
    if (fault !== null) malformed(fault);
    else if (content === undefined) malformed('the padding of a frame is longer than the frame (RFC 9113 section 6.1)');
    else if (frame.type === frameTypes.headers || frame.type === frameTypes.continuation) takeHeaders(frame, content);
    else if (frame.type === frameTypes.data) takeData(frame, content);
    else if (frame.type === frameTypes.rstStream) {
      const code = frame.payload.readUInt32BE(0);
      fail({ kind: 'peer', error: peerError('RST_STREAM', code, null, code === REFUSED_STREAM) });
    } else if (frame.type === frameTypes.goaway) takeGoaway(frame);
    else if (frame.type === frameTypes.settings || frame.type === frameTypes.ping) {
      isSettled = true;
      if ((frame.flags & flags.ack) === 0)
        reply(frame.type, frame.type === frameTypes.ping ? frame.payload : Buffer.alloc(0));
    }
    return !isOver;
  };

  const push = frameReader(take);
  return {
    push: (bytes) => {
      if (isOver) return;
      if (!isSettled && bytes.subarray(0, 5).toString('latin1') === 'HTTP/') return malformed('it is of HTTP/1');
      if (!push(bytes) && !isOver) malformed('a frame is larger than was allowed (RFC 9113 section 4.2)');
    },
    close: () => {
      if (!isOver) fail(goaway === null ? { kind: 'closed' } : { kind: 'peer', error: goaway });
    },
  };
}

function peerError(frame: PeerError['frame'], code: number, debug: string | null, isUnprocessed: boolean): PeerError {
  return { frame, code, name: errorName(code), debug: debug === '' ? null : debug, isUnprocessed };
}

/** Frames that concern a stream and not the connection, and the sizes of those that have one. */
const streamFrames: ReadonlySet<number> = new Set([
  frameTypes.data,
  frameTypes.headers,
  frameTypes.rstStream,
  frameTypes.continuation,
]);
const connectionFrames: ReadonlySet<number> = new Set([frameTypes.settings, frameTypes.ping, frameTypes.goaway]);
const sizes: ReadonlyMap<number, number> = new Map([
  [frameTypes.priority, 5],
  [frameTypes.rstStream, 4],
  [frameTypes.ping, 8],
  [frameTypes.windowUpdate, 4],
]);

/** Why a frame may not come here; null where it may. Frames of unknown types are ignored (RFC 9113 section 4.1). */
function frameFault(
  { type, flags: set, stream, payload }: Frame,
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

/** RFC 9110 section 6.4.1. */
function hasContent(method: Method, { statusCode }: Head): boolean {
  return method !== 'HEAD' && statusCode !== 204 && statusCode !== 304;
}

/** RFC 9113 section 8.1.1 calls the answer malformed; browsers go by the end of the stream alone. */
function lintLength({ rawHeaders }: Head, bodyBytes: number, deviates: Deviates): void {
  const lengths = rawHeaders.filter((_text, index) => index % 2 === 1 && rawHeaders[index - 1] === 'content-length');
  if (lengths.length > 1) deviates('content_length_repeated');
  if (lengths.some((length) => !/^\d+$/.test(length) || Number(length) !== bodyBytes))
    deviates('content_length_differs');
}
