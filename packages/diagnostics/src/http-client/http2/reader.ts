import type { Deviates } from '../deviations.ts';
import type { Head } from '../response-head.ts';
import { frameFault, STREAM } from './frame-faults.ts';
import { contentOf, flags, frameReader, frameTypes, uint32, writeFrame, type Http2Frame } from './frames.ts';
import { fieldFault, readHttp2Head, type Fields } from './head.ts';
import { HeaderBlocks } from './header-block.ts';
import { readGoaway, readReset, type PeerError } from './peer-error.ts';

/** Why an HTTP/2 response cannot be read further. */
export type Http2Fault =
  | { readonly kind: 'malformed'; readonly reason: string }
  | { readonly kind: 'too large' }
  /** The connection ended before the answer did. */
  | { readonly kind: 'closed' }
  | { readonly kind: 'peer'; readonly error: PeerError };

/** Receives parsed parts of a response. After `end` or `fault` nothing follows. */
export interface Http2Sink {
  /** Called at each HEADERS frame. */
  readonly firstByte: () => void;
  readonly interim: () => void;
  readonly head: (head: Head) => void;
  readonly body: (bytes: Uint8Array) => void;
  readonly end: () => void;
  readonly fault: (fault: Http2Fault) => void;
  readonly deviation: Deviates;
  /** Sends an acknowledgement or a window update. */
  readonly reply: (frame: Buffer) => void;
}

/**
 * Space for padding in the flow-control windows; whenever half of it has arrived, they are extended by as much (RFC
 * 9113 section 6.1).
 */
export const MAX_PADDING_BYTES = 4_096;
/** Maximum replies to SETTINGS and PING; a flood of them is ended by the bound on received bytes. */
const MAX_REPLIES = 1_000;

/**
 * Reads the response to the only request of an HTTP/2 connection (RFC 9113), frame by frame: a result reports which
 * side ended a stream, and with which code. It does no I/O.
 */
export class Http2Reader {
  private readonly method: string;
  private readonly sink: Http2Sink;
  private readonly blocks = new HeaderBlocks();
  private readonly readFrames = frameReader((frame) => this.take(frame));
  private isOver = false;
  /** Whether the server's SETTINGS have arrived. */
  private isSettled = false;
  private head: Head | null = null;
  private bodyBytes = 0;
  private replies = 0;
  private paddingBytes = 0;
  private goaway: PeerError | null = null;

  constructor(method: string, sink: Http2Sink) {
    this.method = method;
    this.sink = sink;
  }

  push(bytes: Buffer): void {
    if (this.isOver) return;
    const isHttp1 = !this.isSettled && bytes.subarray(0, 5).toString('latin1') === 'HTTP/';
    if (isHttp1) return this.malformed('it is of HTTP/1');
    if (!this.readFrames(bytes) && !this.isOver)
      this.malformed('a frame is larger than was allowed (RFC 9113 section 4.2)');
  }

  /** Called when the peer has ended the connection. */
  close(): void {
    if (!this.isOver) this.fail(this.goaway === null ? { kind: 'closed' } : { kind: 'peer', error: this.goaway });
  }

  /** @returns whether further frames are read */
  private take(frame: Http2Frame): boolean {
    const fault = frameFault(frame, this.isSettled, this.blocks.isOpen);
    const content = contentOf(frame);
    if (fault !== null) this.malformed(fault);
    else if (content === undefined)
      this.malformed('the padding of a frame is longer than the frame (RFC 9113 section 6.1)');
    else this.takeContent(frame, content);
    return !this.isOver;
  }

  private takeContent(frame: Http2Frame, content: Buffer): void {
    switch (frame.type) {
      case frameTypes.headers:
      case frameTypes.continuation:
        return this.takeHeaders(frame, content);
      case frameTypes.data:
        return this.takeData(frame, content);
      case frameTypes.rstStream:
        return this.fail({ kind: 'peer', error: readReset(frame.payload) });
      case frameTypes.goaway:
        return this.takeGoaway(frame);
      case frameTypes.settings:
        return this.acknowledge(frame, Buffer.alloc(0));
      case frameTypes.ping:
        return this.acknowledge(frame, frame.payload);
      default:
    }
  }

  private takeHeaders(frame: Http2Frame, content: Buffer): void {
    if (frame.type === frameTypes.headers) this.sink.firstByte();
    const read = this.blocks.take(frame, content);
    if (read.kind === 'fields') this.takeFields(read.fields, read.isLast);
    else if (read.kind !== 'incomplete') this.fail(read);
  }

  private takeFields(fields: Fields, isLast: boolean): void {
    if (this.head !== null) {
      const fault = isLast
        ? fieldFault(fields, [], this.sink.deviation)
        : 'a second head follows the first (RFC 9113 section 8.1)';
      return fault === null ? this.finish() : this.malformed(fault);
    }
    const read = readHttp2Head(fields, this.sink.deviation);
    const isInterim = read.head !== null && read.head.statusCode < 200;
    if (read.head !== null && !isInterim) {
      this.head = read.head;
      this.sink.head(read.head);
    }
    if (read.fault !== null) return this.malformed(read.fault);
    if (!isInterim) return isLast ? this.finish() : undefined;
    if (isLast) return this.malformed('it ends with an interim answer (RFC 9113 section 8.1)');
    if (read.head?.statusCode === 101)
      return this.malformed('it switches protocols, which HTTP/2 does not (RFC 9113 section 8.6)');
    this.sink.interim();
  }

  private takeData(frame: Http2Frame, content: Buffer): void {
    if (this.head === null) return this.malformed('its body comes before its head (RFC 9113 section 8.1)');
    this.bodyBytes += content.length;
    if (content.length > 0 && hasContent(this.method, this.head)) this.sink.body(content);
    if ((frame.flags & flags.endStream) !== 0) return this.finish();
    this.paddingBytes += frame.payload.length - content.length;
    if (this.paddingBytes < MAX_PADDING_BYTES / 2) return;
    const increment = uint32(this.paddingBytes);
    for (const stream of [0, STREAM]) this.sink.reply(writeFrame(frameTypes.windowUpdate, 0, stream, increment));
    this.paddingBytes = 0;
  }

  private takeGoaway({ payload }: Http2Frame): void {
    const read = readGoaway(payload);
    if (read === undefined) return this.malformed('a GOAWAY frame is too short (RFC 9113 section 6.8)');
    // A server that ended the connection with an error may close it by another GOAWAY without one.
    if (this.goaway === null || read.error.name !== 'NO_ERROR') this.goaway = read.error;
    // The response may still arrive after a GOAWAY that counts the request among those the server may have processed.
    if (!read.isTakenUp) this.fail({ kind: 'peer', error: read.error });
  }

  private acknowledge(frame: Http2Frame, payload: Buffer): void {
    this.isSettled = true;
    if ((frame.flags & flags.ack) !== 0) return;
    this.replies += 1;
    if (this.replies <= MAX_REPLIES) this.sink.reply(writeFrame(frame.type, flags.ack, 0, payload));
  }

  private finish(): void {
    if (this.head === null) return this.malformed('it has no head (RFC 9113 section 8.1)');
    if (hasContent(this.method, this.head)) lintLength(this.head, this.bodyBytes, this.sink.deviation);
    else if (this.bodyBytes > 0) this.sink.deviation('body_unexpected');
    this.isOver = true;
    this.sink.end();
  }

  private malformed(reason: string): void {
    this.fail({ kind: 'malformed', reason });
  }

  private fail(fault: Http2Fault): void {
    this.isOver = true;
    this.sink.fault(fault);
  }
}

/** True except for HEAD, and for 204 and 304, which have no content (RFC 9110 section 6.4.1). */
function hasContent(method: string, { statusCode }: Head): boolean {
  return method !== 'HEAD' && statusCode !== 204 && statusCode !== 304;
}

/**
 * Reports a Content-Length that is repeated, or that differs from the length of the body, which makes a response
 * malformed by RFC 9113 section 8.1.1.
 */
function lintLength({ rawHeaders }: Head, bodyBytes: number, deviates: Deviates): void {
  const lengths = rawHeaders.filter((_text, index) => index % 2 === 1 && rawHeaders[index - 1] === 'content-length');
  if (lengths.length > 1) deviates('content_length_repeated');
  if (lengths.some((length) => !/^\d+$/.test(length) || Number(length) !== bodyBytes))
    deviates('content_length_differs');
}
