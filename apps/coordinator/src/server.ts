import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, STATUS_CODES, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

import { canonicalAddress } from './http/client-address.ts';
import { axesOf } from './http/limits/axes.ts';
import { createLinks, type Links } from './http/links.ts';
import { HttpProblem, PROBLEM_MEDIA_TYPE, problemDocument } from './http/problem.ts';

/** Time that answers under way have to finish once the service stops: the longest `?wait=` and a bit. */
const DRAIN_MS = 28_000;

const MAX_CONNECTIONS = 10_000;

/** Of one client, so that none can take them all. More than a load test from one machine opens. */
const MAX_CONNECTIONS_PER_CLIENT = 2_000;

export interface RunningServer {
  readonly port: number;
  /** The base address: the one that was given, or `http://<host>:<port>`. */
  readonly publicUrl: string;
  /**
   * Takes no more connections, lets the answers under way finish, then closes what is left.
   *
   * @param drainMs how long answers may take
   */
  readonly close: (drainMs?: number) => Promise<void>;
}

export interface ServerOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly publicUrl?: string | undefined;
  /** True where every connection comes from a proxy: then they are not bounded per client. */
  readonly behindProxies?: boolean;
  /** Connections of one client at a time. */
  readonly maxConnectionsPerClient?: number;
}

/**
 * Listens. The limits of time and size hold before any handler sees a request.
 *
 * @param listenerFor makes what answers requests, knowing the base address
 */
export async function startServer(
  options: ServerOptions,
  listenerFor: (publicUrl: string) => RequestListener,
): Promise<RunningServer> {
  const server = createServer({
    maxHeaderSize: 8 * 1024,
    headersTimeout: 10_000,
    // Receipt of the request; an answer may be held for longer (`?wait=`).
    requestTimeout: 15_000,
    connectionsCheckingInterval: 2_000,
    keepAliveTimeout: 65_000,
    requireHostHeader: false,
  });
  server.maxConnections = MAX_CONNECTIONS;
  if (options.behindProxies !== true) {
    boundConnections(server, options.maxConnectionsPerClient ?? MAX_CONNECTIONS_PER_CLIENT);
  }
  // An expectation other than 100-continue may be ignored (RFC 9110 section 10.1.1); Node's own 417 has no body.
  server.on('checkExpectation', (request, response) => void server.emit('request', request, response));
  server.listen(options.port, options.host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const publicUrl = options.publicUrl ?? localUrl(options.host, port);
  const links = createLinks(publicUrl);
  server.on('clientError', (error, socket) => refuse(error, socket, links));
  server.on('request', listenerFor(publicUrl));
  return { port, publicUrl, close: (drainMs = DRAIN_MS) => close(server, drainMs) };
}

/** IPv6 clients are told apart by /64, as in the rate limits. */
function boundConnections(server: Server, limit: number): void {
  const open = new Map<string, number>();
  server.on('connection', (socket) => {
    const address = canonicalAddress(socket.remoteAddress ?? '');
    if (address === undefined) return;
    const { key } = axesOf(address, 1)[0]!;
    const connections = (open.get(key) ?? 0) + 1;
    if (connections > limit) {
      socket.destroy();
      return;
    }
    open.set(key, connections);
    socket.once('close', () => {
      const left = (open.get(key) ?? 1) - 1;
      if (left === 0) open.delete(key);
      else open.set(key, left);
    });
  });
}

/** An address that a program on this machine reaches: the unspecified ones are none. */
function localUrl(host: string, port: number): string {
  if (host === '' || host === '0.0.0.0' || host === '::') return `http://localhost:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

async function close(server: Server, drainMs: number): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  // A connection is kept alive after the answer that was under way; nothing more comes on it that would be taken.
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  const late = setTimeout(() => server.closeAllConnections(), drainMs);
  await closed;
  clearInterval(idle);
  clearTimeout(late);
}

/** What Node's parser refuses never becomes a request: the answer is written by hand. */
function refuse(error: Error & { readonly code?: string }, socket: Duplex, links: Links): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const problem = problemOf(error.code);
  const requestId = randomUUID();
  const body = JSON.stringify(problemDocument(problem, links, '', requestId));
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    `Content-Type: ${PROBLEM_MEDIA_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    `X-Request-Id: ${requestId}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function problemOf(code: string | undefined): HttpProblem {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new HttpProblem('headers-too-large', 'The request line and the headers are larger than 8 KiB.');
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new HttpProblem('request-timeout', 'The request did not arrive in time.');
  }
  return new HttpProblem('invalid-http', 'The request is not valid HTTP.');
}
