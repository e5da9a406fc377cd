import { createHash, timingSafeEqual } from 'node:crypto';
import { request as httpRequest, STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import { classifyError, connectionClosed } from '../classify.ts';
import { portOf, type Ledger } from './proxy-ledger.ts';

const MAX_INTERIM_RESPONSES = 16;

/** RFC 9110 section 7.6.1, and what is between the browser and us alone. */
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

/** Compares with a secret in a time that does not depend on the guess. */
export function secret(expected: string): (given: string | undefined) => boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const wanted = digest(expected);
  return (given) => given !== undefined && timingSafeEqual(digest(given), wanted);
}

/** The head of an answer of our own to CONNECT, without the empty line. */
export function pageHead(status: 200 | 400 | 407 | 502): string {
  const more = status === 407 ? 'Proxy-Authenticate: Basic realm="vantage"\r\n' : '';
  const end = status === 200 ? '' : 'Content-Length: 0\r\nConnection: close\r\n';
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${more}${end}`;
}

/** CONNECT (RFC 9110 section 9.3.6): bytes in both directions until one side ends. */
export async function tunnel(authority: string, browser: Socket, head: Buffer, book: Ledger): Promise<void> {
  // As an https URL, so that a port of 80 stays visible; CONNECT always names one.
  const url = /^[^/?#@\s]+:\d{1,5}$/.test(authority) ? URL.parse(`https://${authority}`) : null;
  if (url === null) return void browser.end(`${pageHead(400)}\r\n`);
  const upstream = await book.connect(url.hostname, portOf(url));
  if (upstream === null) return void browser.end(`${pageHead(502)}\r\n`);
  if (browser.destroyed) return void upstream.destroy();

  upstream.on('error', () => browser.destroy()).on('close', () => browser.destroy());
  browser.on('close', () => upstream.destroy());
  upstream.on('data', (piece: Buffer) => book.countBytes(piece.length));
  browser.on('data', (piece: Buffer) => book.countBytes(piece.length));
  browser.write(`${pageHead(200)}\r\n`);
  if (head.length > 0) upstream.write(head);
  upstream.pipe(browser);
  browser.pipe(upstream);
}

/**
 * Passes one request on, over a connection of its own. Whatever goes wrong ends the browser's connection without an
 * answer, so that no page of ours is taken for one of the target.
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
  if (socket === null || response.destroyed) return giveUp();

  const upstream = httpRequest({
    createConnection: () => socket,
    method: request.method ?? 'GET',
    path: `${url.pathname}${url.search}`,
    headers: [...endToEnd(request.rawHeaders), 'Connection', 'close'],
  });
  let interim = 0;
  upstream.on('information', () => (++interim > MAX_INTERIM_RESPONSES ? giveUp() : undefined));
  upstream.on('error', (error) => {
    if (!response.headersSent) book.noteFailure(url.hostname, port, classifyError(error, 'request'));
    giveUp();
  });
  upstream.on('response', (answer: IncomingMessage) => {
    // A target that plays the proxy: the browser would take its challenge for ours.
    if (answer.statusCode === 407) {
      book.noteFailure(url.hostname, port, connectionClosed('response'));
      return giveUp();
    }
    answer.on('data', (piece: Buffer) => book.countBytes(piece.length));
    answer.on('error', giveUp);
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? '', endToEnd(answer.rawHeaders));
    answer.pipe(response);
  });
  request.on('data', (piece: Buffer) => book.countBytes(piece.length));
  response.on('close', () => socket.destroy());
  request.pipe(upstream);
}

/** Pairs of names and values, as Node's `rawHeaders` has them. */
function endToEnd(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_, index) => !hopByHop.has((rawHeaders[index - (index % 2)] ?? '').toLowerCase()));
}
