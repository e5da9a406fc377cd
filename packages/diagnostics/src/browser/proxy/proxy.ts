import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Server as Listener, Socket } from 'node:net';

import type { Admit, Failure } from '@vantage/contract';

import { createServer } from './node-http.ts';
import { ledger, type ChargeBytes, type Ledger, type ProxyCounts, type ProxyLimits } from './proxy-ledger.ts';
import { passRequest } from './proxy-pass.ts';
import { pageHead, secret, tunnel } from './proxy-tunnel.ts';

/** A page that the proxy answers itself; no connection is made for it. */
export interface OwnPage {
  readonly body: string;
}

/** Answers for hosts that do not exist: the warm-up of a browser and the canary page. */
export type OwnPages = ReadonlyMap<string, (path: string) => OwnPage>;

export interface ProxyOptions {
  readonly admit: Admit;
  readonly limits: ProxyLimits;
  readonly charge?: ChargeBytes | undefined;
  readonly pages: OwnPages;
  /** Aborted to end every connection. */
  readonly signal: AbortSignal;
  /**
   * Accepts the connections for the proxy, and is closed with it; by default the proxy opens a free port of 127.0.0.1.
   */
  readonly listener?: Listener | undefined;
}

/** A browser’s only access to the network: an HTTP/1.1 proxy with CONNECT that admits and pins each connection. */
export interface FilteringProxy {
  /** Port on 127.0.0.1. */
  readonly port: number;
  /** Without these credentials the proxy answers 407, so that nothing else on the machine can use it. */
  readonly credentials: { readonly username: string; readonly password: string };
  /** Why the last connection to this URL's host and port, or an answer over it, failed; undefined if neither did. */
  readonly failureFor: (url: URL) => Failure | undefined;
  readonly counts: () => ProxyCounts;
  readonly close: () => Promise<void>;
}

const MAX_CONNECTIONS = 256;

export async function startProxy({
  admit,
  limits,
  charge,
  pages,
  signal,
  listener,
}: ProxyOptions): Promise<FilteringProxy> {
  const credentials = { username: 'browser', password: randomBytes(24).toString('base64url') };
  const isOurs = secret(`Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`);
  const book = ledger(admit, limits, signal, charge);
  const sockets = new Set<Socket>();

  const server = createServer({ maxHeaderSize: 64 * 1024 }, (request, response) => {
    if (!isOurs(request.headers['proxy-authorization'])) return challenge(response);
    answer(request, response, book, pages);
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  server.on('connect', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    if (isOurs(request.headers['proxy-authorization'])) void tunnel(request.url ?? '', socket, head, book);
    else socket.end(`${pageHead(407)}\r\n`);
  });

  // This handler is added before anything is awaited, because a connection that is accepted without one is lost.
  listener?.on('connection', (socket: Socket) => server.emit('connection', socket));
  const open = listener ?? server;
  open.maxConnections = MAX_CONNECTIONS;
  if (!open.listening) {
    await new Promise<void>((resolve, reject) => open.once('error', reject).listen(0, '127.0.0.1', resolve));
  }
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      signal.removeEventListener('abort', endAll);
      open.close(() => resolve());
      endAll();
    });
  const endAll = (): void => {
    book.endAll();
    for (const socket of sockets) socket.destroy();
  };
  signal.addEventListener('abort', endAll);
  const { port } = open.address() as AddressInfo;
  return { port, credentials, failureFor: book.failureFor, counts: book.counts, close };
}

function answer(request: IncomingMessage, response: ServerResponse, book: Ledger, pages: OwnPages): void {
  const url = URL.parse(request.url ?? '');
  if (url === null || url.protocol !== 'http:') return void response.writeHead(400).end();
  const page = pages.get(url.hostname);
  if (page === undefined) return void passRequest(url, request, response, book);
  const { body } = page(url.pathname);
  const headers = { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' };
  response.writeHead(200, { ...headers, 'Content-Length': Buffer.byteLength(body) }).end(body);
}

function challenge(response: ServerResponse): void {
  response.writeHead(407, { 'Proxy-Authenticate': 'Basic realm="vantage"' }).end();
}
