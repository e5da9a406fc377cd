import { connect } from 'node:http2';
import type { Socket } from 'node:net';

import { classifyError, classifyStreamError, connectionClosed, headTooLarge } from '../classify.ts';
import { MAX_RECEIVED_BYTES, type AnswerSink, type Sending } from './receive.ts';
import type { Request } from './request.ts';

/**
 * Sends a request by HTTP/2 over a connected socket, which it takes over: after ALPN, or with prior knowledge where
 * the socket is a plain one (RFC 9113 section 3.3).
 */
export function sendHttp2(socket: Socket, { url, method, headers }: Request, sink: AnswerSink): Sending {
  // Windows as large as the bound on what is received: with the 64 KiB of RFC 9113 section 6.9.2 the download would take
  // a round trip for each 64 KiB, and its time would be that of the probe's own window.
  const session = connect(url.origin, {
    createConnection: () => socket,
    settings: { enablePush: false, maxHeaderListSize: MAX_HEAD_BYTES, initialWindowSize: MAX_RECEIVED_BYTES },
    maxHeaderListPairs: MAX_HEADERS,
    maxSessionMemory: 1,
  });
  session.on('connect', () => session.setLocalWindowSize(MAX_RECEIVED_BYTES));
  session.on('error', (error) => sink.fail((phase) => classifyError(error, phase)));
  session.on('close', () => sink.fail(connectionClosed));
  const stream = session.request({
    ...Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
    ':method': method,
    ':scheme': url.protocol.slice(0, -1),
    ':authority': url.host,
    ':path': `${url.pathname}${url.search}`,
  });
  stream.on('headers', () => {
    sink.firstByte();
    sink.interim();
  });
  stream.on('response', (received, _flags, rawHeaders) => {
    if (sizeOf(rawHeaders) > MAX_HEAD_BYTES) return sink.fail(headTooLarge);
    sink.head({
      statusCode: received[':status'] ?? 0,
      statusText: null,
      httpVersion: '2',
      rawHeaders: withoutPseudoHeaders(rawHeaders),
    });
  });
  stream.on('data', inOrder(sink.bytes));
  stream.on(
    'end',
    inOrder(() => {
      // A stream that was reset ends too.
      if (stream.rstCode === 0) sink.end();
    }),
  );
  stream.on('error', (error) => sink.fail((phase) => classifyStreamError(error, stream.rstCode, phase)));
  let peerEnded = false;
  socket.once('end', () => {
    peerEnded = true;
  });
  stream.on('close', () => {
    // Node cancels the stream itself where the connection ends under it.
    if (peerEnded) sink.fail(connectionClosed);
    else sink.fail((phase) => classifyStreamError(undefined, stream.rstCode, phase));
  });
  stream.end();
  const stop = (): void => {
    stream.destroy();
    session.destroy();
    socket.destroy();
  };
  return { stop, partialHead: () => null };
}

/** Node gives up by itself a little above. */
const MAX_HEAD_BYTES = 16 * 1024;

/**
 * Node announces a head in the next tick and data at once; above a TLS socket over a stream of JavaScript both come in one
 * tick, and the body would be there before its head.
 */
function inOrder<Args extends readonly unknown[]>(listener: (...args: Args) => void): (...args: Args) => void {
  return (...args) => process.nextTick(listener, ...args);
}

/** As many as Node takes from HTTP/1.1; the bytes are what bounds them. */
const MAX_HEADERS = 2_000;

/** Node does not hold a peer to the list size that it advertises. */
function sizeOf(rawHeaders: readonly string[]): number {
  return rawHeaders.reduce((bytes, text) => bytes + text.length, 0);
}

/** RFC 9113 section 8.3. */
function withoutPseudoHeaders(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_text, index) => !rawHeaders[index - (index % 2)]!.startsWith(':'));
}
