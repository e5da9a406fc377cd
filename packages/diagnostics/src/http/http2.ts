import type { Socket } from 'node:net';

import { classifyError, classifyPeerError, connectionClosed, headTooLarge } from '../classify.ts';
import { encodeHpack } from './hpack.ts';
import { flags, frameTypes, writeFrame } from './http2-frames.ts';
import { readHttp2, STREAM, type Http2Fault } from './http2-reader.ts';
import { fault, MAX_RECEIVED_BYTES, type AnswerSink, type Sending } from './receive.ts';
import type { Request } from './request.ts';
import { MAX_HEAD_BYTES } from './response-reader.ts';

/**
 * Sends a request by HTTP/2 over a connected socket, which it takes over: after ALPN, or with prior knowledge where
 * the socket is a plain one (RFC 9113 section 3.3). Node's client does not tell an error of the peer from one of its own,
 * drops headers that are malformed, and takes a stream that was reset without an error for one that ended.
 */
export function sendHttp2(socket: Socket, request: Request, sink: AnswerSink): Sending {
  const reader = readHttp2(request.method, {
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
  socket.on('data', reader.push);
  socket.on('end', reader.close);
  socket.on('error', (error) => sink.fail((phase) => classifyError(error, phase)));
  socket.on('close', () => sink.fail(connectionClosed));
  socket.write(opening(request));
  return { stop: () => void socket.destroy(), partialHead: () => null };
}

/**
 * All that is sent at once: preface, settings, windows, request. The windows are as large as the bound on what is received:
 * with the 64 KiB of RFC 9113 section 6.9.2 the download would take a round trip for each 64 KiB, and its time would be
 * that of the probe's own window.
 */
function opening({ url, method, headers }: Request): Buffer {
  const block = encodeHpack([
    [':method', method],
    [':scheme', url.protocol.slice(0, -1)],
    [':authority', url.host],
    [':path', `${url.pathname}${url.search}`],
    ...headers.map(([name, value]) => [name.toLowerCase(), value] as const),
  ]);
  return Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    writeFrame(
      frameTypes.settings,
      0,
      0,
      settings([ENABLE_PUSH, 0], [INITIAL_WINDOW_SIZE, MAX_RECEIVED_BYTES], [MAX_HEADER_LIST_SIZE, MAX_HEAD_BYTES]),
    ),
    writeFrame(frameTypes.windowUpdate, 0, 0, uint32(MAX_RECEIVED_BYTES - DEFAULT_WINDOW)),
    // A request has 4 KiB of headers and 2 KiB of URL at most, so that one frame holds it.
    writeFrame(frameTypes.headers, flags.endHeaders | flags.endStream, STREAM, block),
  ]);
}

/** RFC 9113 section 6.5.2. */
const [ENABLE_PUSH, INITIAL_WINDOW_SIZE, MAX_HEADER_LIST_SIZE] = [2, 4, 6];
const DEFAULT_WINDOW = 65_535;

function settings(...pairs: readonly (readonly [id: number, value: number])[]): Buffer {
  return Buffer.concat(pairs.flatMap(([id, value]) => [Buffer.from([0, id]), uint32(value)]));
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function failureOf(found: Http2Fault): Parameters<AnswerSink['fail']>[0] {
  if (found.kind === 'closed') return connectionClosed;
  if (found.kind === 'too large') return headTooLarge;
  if (found.kind === 'peer') return (phase) => classifyPeerError(found.error, phase);
  return fault('http_malformed', `The answer was not valid HTTP/2: ${found.reason}.`);
}
