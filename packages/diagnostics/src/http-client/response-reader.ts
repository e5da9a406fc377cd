import type { DeviationCode } from './deviations.ts';
import { framingOf, readChunkSize } from './framing.ts';
import type { Head } from './response-head.ts';
import {
  addHeaderLine,
  canBeStatusLine,
  isStatusLineBegun,
  MAX_PREFIX,
  readStatusLine,
  type StatusLine,
} from './head-lines.ts';

/** Why an HTTP/1 response cannot be parsed further. */
export type ResponseFault =
  | { readonly kind: 'malformed'; readonly reason: string }
  /** The head, or the trailers, are over the bound. */
  | { readonly kind: 'too large' }
  /** The connection ended before the answer did. */
  | { readonly kind: 'closed' };

/**
 * Receives parsed parts of a response. After `end`, `cut` or `fault` nothing follows except deviations.
 */
export interface ResponseSink {
  /** Called with each interim (1xx) answer except 101. */
  readonly interim: (head: Head) => void;
  readonly head: (head: Head) => void;
  readonly body: (bytes: Uint8Array) => void;
  readonly end: () => void;
  /** Called instead of `end` if the body ended with the connection, and TLS ended without close_notify. */
  readonly cut: () => void;
  readonly fault: (fault: ResponseFault) => void;
  /** May be called more than once for a code. */
  readonly deviation: (code: DeviationCode) => void;
}

/** Limit of a head, for each interim response separately, and of the trailers. */
export const MAX_HEAD_BYTES = 48 * 1024;
const MAX_CHUNK_LINE_BYTES = 16 * 1024;

type State = 'status' | 'headers' | 'counted' | 'untilClose' | 'chunkSize' | 'chunk' | 'chunkEnd' | 'trailers' | 'over';

/**
 * Parses one HTTP/1 response (RFC 9112) without I/O. Tolerates many deviations from the grammar, and reports them to
 * the sink.
 */
export class Http1Reader {
  private readonly method: string;
  private readonly sink: ResponseSink;
  private state: State = 'status';
  /** The incomplete current line. */
  private pieces: Buffer[] = [];
  private lineBytes = 0;
  private headBytes = 0;
  private statusLine: StatusLine | null = null;
  private rawHeaders: string[] = [];
  private hasBody = true;
  /** Bytes left of the body or of the current chunk. */
  private left = 0;
  private isRecognized = false;

  constructor(method: string, sink: ResponseSink) {
    this.method = method;
    this.sink = sink;
  }

  push(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length && this.state !== 'over') {
      if (this.isInBody()) {
        at += this.takeBody(bytes.subarray(at));
        continue;
      }
      const end = bytes.indexOf(LF, at);
      const piece = bytes.subarray(at, end === -1 ? bytes.length : end + 1);
      at += piece.length;
      this.takeLineBytes(piece, end !== -1);
    }
    if (at < bytes.length) this.sink.deviation(this.hasBody ? 'bytes_after_body' : 'body_unexpected');
  }

  /** @param isInOrder false if TLS ended without close_notify: an attacker on the path may have ended the connection */
  close(isInOrder: boolean): void {
    const start = Buffer.concat(this.pieces).toString('latin1');
    if (this.state === 'untilClose' && !isInOrder) this.cutOff();
    else if (this.state === 'untilClose') this.finish();
    else if (this.state === 'status' && !isStatusLineBegun(start)) this.malformed(NO_STATUS_LINE);
    else if (this.state !== 'over') this.fail({ kind: 'closed' });
  }

  /** The received part of a final head whose status line has arrived; null without one. */
  partialHead(): Head | null {
    const line = this.statusLine;
    return line === null || line.statusCode < 200 ? null : this.headOf(line);
  }

  private headOf(line: StatusLine): Head {
    return { ...line, rawHeaders: this.rawHeaders };
  }

  private isInBody(): boolean {
    return this.state === 'counted' || this.state === 'untilClose' || this.state === 'chunk';
  }

  /** @returns how many of the bytes belong to the body */
  private takeBody(bytes: Buffer): number {
    const taken = this.state === 'untilClose' ? bytes : bytes.subarray(0, this.left);
    this.left -= taken.length;
    this.sink.body(taken);
    if (this.left > 0 || this.state === 'untilClose') return taken.length;
    if (this.state === 'counted') this.finish();
    else if (this.state === 'chunk') this.state = 'chunkEnd';
    return taken.length;
  }

  /** Adds bytes to the current line, and processes it when it is complete. */
  private takeLineBytes(piece: Buffer, isWhole: boolean): void {
    this.pieces.push(piece);
    this.lineBytes += piece.length;
    const state = this.state;
    if (state === 'chunkEnd' && this.lineBytes > 2) return this.malformed(CHUNK_TOO_LONG);
    if (state === 'chunkSize' && this.lineBytes > MAX_CHUNK_LINE_BYTES)
      return this.malformed('the chunk extensions are too large');
    if (state === 'status' || state === 'headers' || state === 'trailers') this.headBytes += piece.length;
    if (this.headBytes > MAX_HEAD_BYTES) return this.fail({ kind: 'too large' });
    if (state === 'status' && !this.isRecognized) {
      const start = Buffer.concat(this.pieces).toString('latin1');
      if (!canBeStatusLine(start)) return this.malformed(NO_STATUS_LINE);
      this.isRecognized = start.length >= MAX_PREFIX + 4;
    }
    if (!isWhole) return;
    const line = Buffer.concat(this.pieces).toString('latin1');
    [this.pieces, this.lineBytes] = [[], 0];
    this.takeLine(line);
  }

  private takeLine(line: string): void {
    const text = line.slice(0, line.endsWith('\r\n') ? -2 : -1);
    if (!line.endsWith('\r\n')) this.sink.deviation('bare_lf');
    if (this.state === 'status') this.takeStatusLine(text);
    else if (this.state === 'headers') this.takeHeader(text);
    else if (this.state === 'chunkSize') this.takeChunkSize(text);
    else if (this.state === 'trailers') this.takeTrailer(text);
    else if (text === '') this.state = 'chunkSize';
    else this.malformed(CHUNK_TOO_LONG);
  }

  private takeStatusLine(text: string): void {
    // Empty lines before the status line count as part of its prefix.
    if (text === '' && this.headBytes <= MAX_PREFIX) return this.sink.deviation('status_prefix');
    const read = readStatusLine(text, this.sink.deviation);
    if (read === undefined) return this.malformed(NO_STATUS_LINE);
    [this.statusLine, this.rawHeaders, this.state] = [read, [], 'headers'];
  }

  private takeHeader(text: string): void {
    if (text === '') return this.endHead(this.headOf(this.statusLine!));
    if (!addHeaderLine(this.rawHeaders, text, this.sink.deviation))
      this.malformed('a header has NUL (RFC 9110 section 5.5)');
  }

  private endHead(head: Head): void {
    const { statusCode } = head;
    // The grammar allows any three digits; RFC 9110 section 15 starts at 100.
    if (statusCode < 100) return this.malformed('its status is below 100 (RFC 9110 section 15)');
    this.headBytes = 0;
    const framing = framingOf(this.method, head, this.sink.deviation);
    if (statusCode < 200 && statusCode !== 101) {
      [this.statusLine, this.state, this.isRecognized] = [null, 'status', false];
      return this.sink.interim(head);
    }
    this.sink.head(head);
    this.statusLine = null;
    if (statusCode === 101) return this.malformed('it switches protocols unasked (RFC 9110 section 15.2.2)');
    if (framing.kind === 'undecidable') return this.malformed(framing.reason);
    if (framing.kind === 'chunked') this.state = 'chunkSize';
    else if (framing.kind === 'untilClose') this.state = 'untilClose';
    else {
      this.hasBody = framing.kind === 'length';
      this.left = framing.kind === 'length' ? framing.bytes : 0;
      if (this.left === 0) this.finish();
      else this.state = 'counted';
    }
  }

  private takeChunkSize(text: string): void {
    const size = readChunkSize(text, this.sink.deviation);
    if (typeof size === 'string') return this.malformed(size);
    this.left = size;
    [this.state, this.rawHeaders, this.headBytes] = [this.left === 0 ? 'trailers' : 'chunk', [], 0];
  }

  private takeTrailer(text: string): void {
    if (text === '') this.finish();
    else if (!addHeaderLine(this.rawHeaders, text, this.sink.deviation))
      this.malformed('a trailer has NUL (RFC 9110 section 5.5)');
  }

  private fail(fault: ResponseFault): void {
    this.state = 'over';
    this.sink.fault(fault);
  }

  private malformed(reason: string): void {
    this.fail({ kind: 'malformed', reason });
  }

  private finish(): void {
    this.state = 'over';
    this.sink.end();
  }

  /** Ends a body at the end of TLS without close_notify: it may be incomplete (RFC 9112 section 8). */
  private cutOff(): void {
    this.state = 'over';
    this.sink.deviation('close_notify_missing');
    this.sink.cut();
  }
}

const LF = 10;
const NO_STATUS_LINE = 'it has no status line (RFC 9112 section 4)';
const CHUNK_TOO_LONG = 'a chunk is longer than its size (RFC 9112 section 7.1)';
