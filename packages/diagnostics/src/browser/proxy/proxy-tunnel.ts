import { createHash, timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';

import { STATUS_CODES } from './node-http.ts';
import { portOf, type Ledger } from './proxy-ledger.ts';

/** @returns a function that compares a text with the expected one in constant time; false for undefined */
export function secret(expected: string): (given: string | undefined) => boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const wanted = digest(expected);
  return (given) => given !== undefined && timingSafeEqual(digest(given), wanted);
}

/** The head of the proxy's answer to CONNECT, without the empty line. */
export function pageHead(status: 200 | 400 | 407 | 502): string {
  const more = status === 407 ? 'Proxy-Authenticate: Basic realm="vantage"\r\n' : '';
  const end = status === 200 ? '' : 'Content-Length: 0\r\nConnection: close\r\n';
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${more}${end}`;
}

/** CONNECT (RFC 9110 section 9.3.6): bytes in both directions until one side ends. */
export async function tunnel(authority: string, browser: Socket, head: Buffer, book: Ledger): Promise<void> {
  // CONNECT always names a port. In an https URL, `port` is empty if it is 443, which `portOf` then returns.
  const url = /^[^/?#@\s]+:\d{1,5}$/.test(authority) ? URL.parse(`https://${authority}`) : null;
  if (url === null) return void browser.end(`${pageHead(400)}\r\n`);
  const upstream = await book.connect(url.hostname, portOf(url));
  if (upstream === null) return void browser.end(`${pageHead(502)}\r\n`);
  if (browser.destroyed) return void upstream.destroy();

  upstream.on('error', () => browser.destroy()).on('close', () => browser.destroy());
  browser.on('close', () => upstream.destroy());
  upstream.on('data', (piece: Buffer) => book.countBytes(piece.length, upstream));
  browser.on('data', (piece: Buffer) => book.countBytes(piece.length, upstream));
  browser.write(`${pageHead(200)}\r\n`);
  if (head.length > 0) upstream.write(head);
  upstream.pipe(browser);
  browser.pipe(upstream);
}
