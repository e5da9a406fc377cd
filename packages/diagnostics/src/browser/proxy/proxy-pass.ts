import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import type { Failure } from '@vantage/contract';

import { classifyError, connectionClosed, headTooLarge } from '../../shared/classify-error.ts';
import type { Head } from '../../http-client/response-head.ts';
import { fault } from '../../http-client/read-response.ts';
import { Http1Reader } from '../../http-client/http1/reader.ts';
import type { ResponseFault } from '../../http-client/http1/sink.ts';
import { validateHeaderName, validateHeaderValue } from './node-http.ts';
import { portOf, type Ledger } from './proxy-ledger.ts';

const MAX_INTERIM_RESPONSES = 16;

/** Hop-by-hop headers (RFC 9110 section 7.6.1), and those between browser and proxy. */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Forwards a request over a separate connection. The response is parsed leniently, and written again. A fault closes
 * the browser's connection without a message of the proxy, so that none is taken for one of the target.
 */
export async function passRequest(
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
  book: Ledger,
): Promise<void> {
  const port = portOf(url);
  const socket = await book.connect(url.hostname, port);
  const giveUp = (): void => {
    socket?.destroy();
    response.destroy();
  };
  // A request with a body in chunks is not passed on: the browser's connection is closed.
  if (socket === null || response.destroyed || request.headers['transfer-encoding'] !== undefined) return giveUp();
  const fail = (failure: Failure): void => {
    // A failure is noted only before the head of the response, and only once: later ones follow from the first.
    if (!response.headersSent && !response.destroyed) book.noteFailure(url.hostname, port, failure);
    giveUp();
  };

  let interim = 0;
  const reader = new Http1Reader(request.method === 'HEAD' ? 'HEAD' : 'GET', {
    interim: () => (++interim > MAX_INTERIM_RESPONSES ? giveUp() : undefined),
    // A target that responds like a proxy: the browser would take its challenge for the proxy's.
    head: (head) => (head.statusCode === 407 ? fail(playsProxy) : writeHead(response, head)),
    body: (bytes) => {
      if (!response.write(bytes)) socket.pause();
    },
    end: () => {
      response.end();
      socket.destroy();
    },
    // Without TLS every end of a connection counts as orderly, so that the reader never calls this.
    cut: giveUp,
    fault: (found) => fail(failureOf(found)),
    deviation: () => undefined,
  });
  socket.on('data', (piece: Buffer) => {
    book.countBytes(piece.length, socket);
    reader.push(piece);
  });
  socket.on('end', () => reader.close(true));
  socket.on('error', (error) => fail(classifyError(error, 'request')));
  socket.on('close', () => (response.writableEnded ? undefined : fail(connectionClosed('response'))));
  response.on('drain', () => socket.resume()).on('close', () => socket.destroy());
  sendRequest(url, request, socket);
  request.on('data', (piece: Buffer) => book.countBytes(piece.length, socket));
}

/** Browsers show no page with this status of a target either (`ERR_UNEXPECTED_PROXY_AUTH`). */
const playsProxy: Failure = {
  code: 'screenshot_failed',
  phase: 'response',
  source: 'target',
  message: 'The target answered with status 407, which browsers take from a proxy alone.',
};

function sendRequest(url: URL, request: IncomingMessage, socket: Socket): void {
  const headers = [...endToEnd(request.rawHeaders), 'Connection', 'close'];
  const lines = headers.map((text, index) => text + (index % 2 === 0 ? ': ' : '\r\n')).join('');
  socket.write(`${request.method} ${url.pathname}${url.search} HTTP/1.1\r\n${lines}\r\n`, 'latin1');
  request.pipe(socket, { end: false });
}

/**
 * Writes the response head without hop-by-hop headers and headers that Node rejects. A repeated or non-numeric
 * Content-Length is omitted entirely.
 */
function writeHead(response: ServerResponse, head: Head): void {
  const pairs = endToEnd(head.rawHeaders);
  const lengths = pairs.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'content-length').length;
  const written = pairs.flatMap((name, index) => {
    const value = pairs[index + 1] ?? '';
    if (index % 2 === 1 || !canBeWritten(name, value)) return [];
    const isFraming = name.toLowerCase() === 'content-length';
    return isFraming && (lengths > 1 || !/^\d+$/.test(value)) ? [] : [name, value];
  });
  response.writeHead(head.statusCode, (head.statusText ?? '').replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, ''), written);
}

function canBeWritten(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}

function failureOf(found: ResponseFault): Failure {
  if (found.kind === 'closed') return connectionClosed('response');
  if (found.kind === 'too large') return headTooLarge('response');
  return fault('http_malformed', `The answer was not valid HTTP: ${found.reason}.`)('response');
}

/** The headers without hop-by-hop ones; names and values alternate, as in Node's `rawHeaders`. */
function endToEnd(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_, index) => !hopByHop.has((rawHeaders[index - (index % 2)] ?? '').toLowerCase()));
}
