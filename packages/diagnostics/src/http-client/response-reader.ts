import type { DeviationCode } from './deviations.ts';
import { framingOf } from './framing.ts';
import type { Head } from './response-head.ts';
import {
  addHeaderLine,
  canBeStatusLine,
  isStatusLineBegun,
  MAX_PREFIX,
  readStatusLine,
  type StatusLine,
} from './head-lines.ts';
import type { Method } from './request.ts';

/** Why an answer of HTTP/1 cannot be read on. */
export type ResponseFault =
  | { readonly kind: 'malformed'; readonly reason: string }
  /** The head, or the trailers, are over the bound. */
  | { readonly kind: 'too large' }
  /** The connection ended before the answer did. */
  | { readonly kind: 'closed' };

/** Where an answer goes as it is read. After `end`, `cut` or `fault` nothing follows but deviations of the bytes at hand. */
export interface ResponseSink {
  /** An interim (1xx) answer. */
  readonly interim: (head: Head) => void;
  readonly head: (head: Head) => void;
  readonly body: (bytes: Uint8Array) => void;
  readonly end: () => void;
  /** In place of `end`: the connection was to be the end, and did not come to its own in good order. */
  readonly cut: () => void;
  readonly fault: (fault: ResponseFault) => void;
  /** May be called more than once for a code. */
  readonly deviation: (code: DeviationCode) => void;
}

export interface ResponseReader {
  readonly push: (bytes: Buffer) => void;
  /**
   * The connection came to its end.
   *
   * @param isInOrder false where TLS did not: the end may be that of somebody on the way
   */
  readonly close: (isInOrder: boolean) => void;
  /** A head that is not whole yet, as far as it came, once its status line is there. */
  readonly partialHead: () => Head | null;
}

/** Bytes that a head may have, each interim answer for itself. Servers and proxies send 8 to 32 KiB at most; a run is counted for no more. */
export const MAX_HEAD_BYTES = 48 * 1024;
const MAX_CHUNK_LINE_BYTES = 16 * 1024;
/** Digits of a size that a number holds exactly. */
const MAX_CHUNK_DIGITS = 13;

type State = 'status' | 'headers' | 'counted' | 'untilClose' | 'chunkSize' | 'chunk' | 'chunkEnd' | 'trailers' | 'over';

/**
 * Reads one answer of HTTP/1 (RFC 9112) from the bytes of a connection. What browsers make out is read, and each
 * departure from the grammar is told to the sink; it does no I/O.
 */
export function readResponse(method: Method, sink: ResponseSink): ResponseReader {
  let state: State = 'status';
  let pieces: Buffer[] = [];
  let lineBytes = 0;
  let headBytes = 0;
  let statusLine: StatusLine | null = null;
  let rawHeaders: string[] = [];
  let hasBody = true;
  let left = 0;
  let isRecognized = false;

  const fail = (fault: ResponseFault): void => {
    state = 'over';
    sink.fault(fault);
  };
  const malformed = (reason: string): void => fail({ kind: 'malformed', reason });
  const finish = (): void => {
    state = 'over';
    sink.end();
  };
  // RFC 9112 section 8: the body counts as incomplete then.
  const cutOff = (): void => {
    state = 'over';
    sink.deviation('close_notify_missing');
    sink.cut();
  };
  const headOf = (line: StatusLine): Head => ({ ...line, rawHeaders });

  const takeStatusLine = (text: string): void => {
    // Empty lines before it count as bytes before it.
    if (text === '' && headBytes <= MAX_PREFIX) return sink.deviation('status_prefix');
    const read = readStatusLine(text, sink.deviation);
    if (read === undefined) return malformed(NO_STATUS_LINE);
    [statusLine, rawHeaders, state] = [read, [], 'headers'];
  };
  const takeHeader = (text: string): void => {
    if (text === '') return endHead(headOf(statusLine!));
    if (!addHeaderLine(rawHeaders, text, sink.deviation)) malformed('a header has NUL (RFC 9110 section 5.5)');
  };
  const endHead = (head: Head): void => {
    const { statusCode } = head;
    // The grammar lets any three digits pass; RFC 9110 section 15 begins at 100.
    if (statusCode < 100) return malformed('its status is below 100 (RFC 9110 section 15)');
    headBytes = 0;
    const framing = framingOf(method, head, sink.deviation);
    if (statusCode < 200 && statusCode !== 101) {
      [statusLine, state, isRecognized] = [null, 'status', false];
      return sink.interim(head);
    }
    sink.head(head);
    statusLine = null;
    if (statusCode === 101) return malformed('it switches protocols unasked (RFC 9110 section 15.2.2)');
    if (framing.kind === 'undecidable') return malformed(framing.reason);
    if (framing.kind === 'chunked') state = 'chunkSize';
    else if (framing.kind === 'untilClose') state = 'untilClose';
    else {
      hasBody = framing.kind === 'length';
      left = framing.kind === 'length' ? framing.bytes : 0;
      if (left === 0) finish();
      else state = 'counted';
    }
  };
  const takeChunkSize = (text: string): void => {
    const [, digits, space] = /^([0-9a-f]+)([ \t]*)(?:;.*)?$/is.exec(text) ?? [];
    if (digits === undefined) return malformed('the size of a chunk is no number (RFC 9112 section 7.1)');
    if (digits.replace(/^0+/, '').length > MAX_CHUNK_DIGITS) return malformed('the size of a chunk is too large');
    if (space !== '' && !text.includes(';')) sink.deviation('chunk_size_spacing');
    left = Number.parseInt(digits, 16);
    [state, rawHeaders, headBytes] = [left === 0 ? 'trailers' : 'chunk', [], 0];
  };
  const takeTrailer = (text: string): void => {
    if (text === '') finish();
    else if (!addHeaderLine(rawHeaders, text, sink.deviation)) malformed('a trailer has NUL (RFC 9110 section 5.5)');
  };

  const takeLine = (line: string): void => {
    const text = line.slice(0, line.endsWith('\r\n') ? -2 : -1);
    if (!line.endsWith('\r\n')) sink.deviation('bare_lf');
    if (state === 'status') takeStatusLine(text);
    else if (state === 'headers') takeHeader(text);
    else if (state === 'chunkSize') takeChunkSize(text);
    else if (state === 'trailers') takeTrailer(text);
    else if (text === '') state = 'chunkSize';
    else malformed(CHUNK_TOO_LONG);
  };
  /** Takes bytes up to the end of a line, and that line once it is whole. */
  const takeLineBytes = (piece: Buffer, isWhole: boolean): void => {
    pieces.push(piece);
    lineBytes += piece.length;
    if (state === 'chunkEnd' && lineBytes > 2) return malformed(CHUNK_TOO_LONG);
    if (state === 'chunkSize' && lineBytes > MAX_CHUNK_LINE_BYTES)
      return malformed('the chunk extensions are too large');
    if (state === 'status' || state === 'headers' || state === 'trailers') headBytes += piece.length;
    if (headBytes > MAX_HEAD_BYTES) return fail({ kind: 'too large' });
    if (state === 'status' && !isRecognized) {
      const start = Buffer.concat(pieces).toString('latin1');
      if (!canBeStatusLine(start)) return malformed(NO_STATUS_LINE);
      isRecognized = start.length >= MAX_PREFIX + 4;
    }
    if (!isWhole) return;
    const line = Buffer.concat(pieces).toString('latin1');
    [pieces, lineBytes] = [[], 0];
    takeLine(line);
  };
  /** Takes bytes of the body. */
  const takeBody = (bytes: Buffer): number => {
    const taken = state === 'untilClose' ? bytes : bytes.subarray(0, left);
    left -= taken.length;
    sink.body(taken);
    if (left > 0 || state === 'untilClose') return taken.length;
    if (state === 'counted') finish();
    else if (state === 'chunk') state = 'chunkEnd';
    return taken.length;
  };

  return {
    push: (bytes) => {
      let at = 0;
      while (at < bytes.length && state !== 'over') {
        if (state === 'counted' || state === 'untilClose' || state === 'chunk') {
          at += takeBody(bytes.subarray(at));
          continue;
        }
        const end = bytes.indexOf(LF, at);
        const piece = bytes.subarray(at, end === -1 ? bytes.length : end + 1);
        at += piece.length;
        takeLineBytes(piece, end !== -1);
      }
      if (at < bytes.length) sink.deviation(hasBody ? 'bytes_after_body' : 'body_unexpected');
    },
    close: (isInOrder) => {
      const start = Buffer.concat(pieces).toString('latin1');
      if (state === 'untilClose' && !isInOrder) cutOff();
      else if (state === 'untilClose') finish();
      else if (state === 'status' && !isStatusLineBegun(start)) malformed(NO_STATUS_LINE);
      else if (state !== 'over') fail({ kind: 'closed' });
    },
    partialHead: () => (statusLine === null || statusLine.statusCode < 200 ? null : headOf(statusLine)),
  };
}

const LF = 10;
const NO_STATUS_LINE = 'it has no status line (RFC 9112 section 4)';
const CHUNK_TOO_LONG = 'a chunk is longer than its size (RFC 9112 section 7.1)';
