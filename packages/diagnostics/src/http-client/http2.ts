import type { Socket } from 'node:net';

import {
  classifyError,
  classifyPeerError,
  connectionClosed,
  headTooLarge,
  HTTP_1_1_REQUIRED,
} from '../shared/classify-error.ts';
import { MAX_HEAD_BYTES } from './bounds.ts';
import { encodeHpack } from './http2/hpack.ts';
import { STREAM } from './http2/frame-faults.ts';
import { flags, frameTypes, MAX_FRAME_BYTES, uint32, writeFrame } from './http2/frames.ts';
import type { PeerError } from './http2/peer-error.ts';
import { MAX_PADDING_BYTES, Http2Reader, type Http2Fault } from './http2/reader.ts';
import { fault } from './read-response.ts';
import type { AnswerSink, Sending } from './answer.ts';
import type { Request } from './request.ts';

/**
 * Sends an HTTP/2 request over a connected socket and owns it from then on: after ALPN, or with prior knowledge on a
 * plain socket (RFC 9113 section 3.3). Node's client is not used: it does not distinguish the peer's errors from its
 * own, drops malformed headers, and takes a stream reset without an error for a complete one.
 */
export function sendHttp2(socket: Socket, request: Request, sink: AnswerSink): Sending {
  const reader = new Http2Reader(request.method, {
    firstByte: sink.firstByte,
    interim: sink.interim,
    head: sink.head,
    body: sink.bytes,
    end: sink.end,
    fault: (found) => {
      if (found.kind === 'peer') sink.peerError(found.error);
      sink.fail(failureOf(found));
    },
    deviation: sink.deviation,
    reply: (frame) => void socket.write(frame),
  });
  socket.on('data', (bytes: Buffer) => {
    // Replies are batched: one packet per PING would amplify a flood.
    socket.cork();
    reader.push(bytes);
    socket.uncork();
    sink.received(bytes.length);
  });
  socket.on('end', () => reader.close());
  socket.on('error', (error) => sink.fail((phase) => classifyError(error, phase)));
  socket.on('close', () => sink.fail(connectionClosed));
  const window = firstWindow(request);
  socket.write(opening(request, window));
  return {
    stop: () => void socket.destroy(),
    partialHead: () => null,
    allowBody: (bytes) => {
      const more = windowFor(bytes) - window;
      if (more > 0) socket.write(writeFrame(frameTypes.windowUpdate, 0, STREAM, uint32(more)));
    },
  };
}

/**
 * The stream's window holds the body up to its cap, a byte that reveals a longer one, and `MAX_PADDING_BYTES`. So the
 * target sends little more than is read.
 */
function windowFor(bodyBytes: number): number {
  return bodyBytes + 1 + MAX_PADDING_BYTES;
}

/**
 * The window until the head has arrived. If redirects are followed, it is at most the 65,535 bytes of RFC 9113 section
 * 6.9.2: the body of a redirect needs no more. For other responses `allowBody` then adds the rest.
 */
function firstWindow({ maxBodyBytes, followsRedirects }: Request): number {
  const window = windowFor(maxBodyBytes);
  return followsRedirects ? Math.min(window, DEFAULT_WINDOW) : window;
}

/** All that the client sends at once: preface, settings, windows, request. */
function opening({ url, method, headers, host = url.host, body, maxBodyBytes }: Request, window: number): Buffer {
  const block = encodeHpack([
    [':method', method],
    [':scheme', url.protocol.slice(0, -1)],
    [':authority', host],
    [':path', `${url.pathname}${url.search}`],
    ...headers.map(([name, value]) => [name.toLowerCase(), value] as const),
  ]);
  return Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    writeFrame(
      frameTypes.settings,
      0,
      0,
      settings([ENABLE_PUSH, 0], [INITIAL_WINDOW_SIZE, window], [MAX_HEADER_LIST_SIZE, MAX_HEAD_BYTES]),
    ),
    // The window of the connection gets as large as that of the stream can become, and at least a byte larger than at
    // first: an increment of 0 is an error.
    writeFrame(frameTypes.windowUpdate, 0, 0, uint32(Math.max(1, windowFor(maxBodyBytes) - DEFAULT_WINDOW))),
    ...headFrames(block, body === undefined),
    ...(body === undefined ? [] : [writeFrame(frameTypes.data, flags.endStream, STREAM, Buffer.from(body))]),
  ]);
}

/** A header block as HEADERS and, if it exceeds a frame, as with a long token, CONTINUATION (RFC 9113 section 4.3). */
function headFrames(block: Buffer, isLast: boolean): readonly Buffer[] {
  const count = Math.ceil(block.length / MAX_FRAME_BYTES);
  return Array.from({ length: count }, (_, index) => {
    const type = index === 0 ? frameTypes.headers : frameTypes.continuation;
    const endStream = index === 0 && isLast ? flags.endStream : 0;
    const endHeaders = index === count - 1 ? flags.endHeaders : 0;
    const piece = block.subarray(index * MAX_FRAME_BYTES, (index + 1) * MAX_FRAME_BYTES);
    return writeFrame(type, endStream | endHeaders, STREAM, piece);
  });
}

/** Identifiers of the settings that the client sends (RFC 9113 section 6.5.2). */
const [ENABLE_PUSH, INITIAL_WINDOW_SIZE, MAX_HEADER_LIST_SIZE] = [2, 4, 6];
const DEFAULT_WINDOW = 65_535;

function settings(...pairs: readonly (readonly [id: number, value: number])[]): Buffer {
  return Buffer.concat(pairs.flatMap(([id, value]) => [Buffer.from([0, id]), uint32(value)]));
}

function failureOf(found: Http2Fault): Parameters<AnswerSink['fail']>[0] {
  if (found.kind === 'closed') return connectionClosed;
  if (found.kind === 'too large') return headTooLarge;
  if (found.kind === 'peer') return (phase) => classifyPeerError(found.error, phase);
  return fault('http_malformed', `The answer was not valid HTTP/2: ${found.reason}.`);
}

/** How to repeat a request that the server did not process. */
export type Again = 'by HTTP/1.1' | 'as before';

/**
 * How a request without a final response head may be repeated, according to the error of the peer (RFC 9113 sections
 * 6.8, 7 and 8.7); null if it may not. Only `as before` depends on `isUnanswered`, which is false after an interim
 * response.
 */
export function againAfter(peerError: PeerError | null, isUnanswered: boolean): Again | null {
  if (peerError?.code === HTTP_1_1_REQUIRED) return 'by HTTP/1.1';
  return isUnanswered && peerError?.isUnprocessed === true ? 'as before' : null;
}
