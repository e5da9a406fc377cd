import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

import { GATEWAY_PATH } from '@vantage/contract';

import { canonicalAddress } from './http/client-address.ts';
import { guardRequests } from './http/guard-requests.ts';
import { axesOf } from './http/limits/axes.ts';
import { createLinks } from './http/links.ts';
import { MAX_BODY_BYTES } from './http/requests/read-json.ts';

/** Time that answers under way have to finish once the service stops: the longest `?wait=` and a bit. */
const DRAIN_MS = 28_000;

const MAX_CONNECTIONS = 10_000;

/** Of one client, so that none can take them all. More than a load test from one machine opens. */
const MAX_CONNECTIONS_PER_CLIENT = 2_000;

/** Takes over a connection whose request asks for a WebSocket. */
export type TakeUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export interface RunningServer {
  readonly port: number;
  /** The base address: the one that was given, or `http://<host>:<port>`. */
  readonly publicUrl: string;
  /** Has agents that ask for a WebSocket at the path of the gateway served; without it there is no such path. */
  readonly onAgent: (take: TakeUpgrade | undefined) => void;
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
  /** Milliseconds that the head of a request and a whole request may take to arrive; looked at every so often. */
  readonly receipt?: { readonly headersMs: number; readonly requestMs: number; readonly lookEveryMs: number };
}

const RECEIPT = { headersMs: 10_000, requestMs: 15_000, lookEveryMs: 2_000 };

/**
 * Listens. The limits of time and size hold before any handler sees a request.
 *
 * @param listenerFor makes what answers requests, knowing the base address
 */
export async function startServer(
  options: ServerOptions,
  listenerFor: (publicUrl: string) => RequestListener,
): Promise<RunningServer> {
  const { headersMs, requestMs, lookEveryMs } = options.receipt ?? RECEIPT;
  let takeAgent: TakeUpgrade | undefined;
  let paths: readonly string[] = [];
  const server = createServer({
    maxHeaderSize: 8 * 1024,
    headersTimeout: headersMs,
    // Receipt of the request; an answer may be held for longer (`?wait=`).
    requestTimeout: requestMs,
    connectionsCheckingInterval: lookEveryMs,
    keepAliveTimeout: 65_000,
    requireHostHeader: false,
    // Every other request is answered as if it asked for no upgrade (RFC 9110 section 7.8).
    shouldUpgradeCallback: (request) =>
      takeAgent !== undefined && paths.includes(pathOf(request)) && asksForWebSocket(request),
  });
  server.on('upgrade', (request, socket, head) => takeAgent?.(request, socket, head));
  server.maxConnections = MAX_CONNECTIONS;
  if (options.behindProxies !== true) {
    boundConnections(server, options.maxConnectionsPerClient ?? MAX_CONNECTIONS_PER_CLIENT);
  }
  // An expectation other than 100-continue may be ignored (RFC 9110 section 10.1.1); Node's own 417 has no body.
  server.on('checkExpectation', (request, response) => void server.emit('request', request, response));
  // What is too large is not asked for.
  server.on('checkContinue', (request, response) => {
    if (Number(request.headers['content-length'] ?? 0) <= MAX_BODY_BYTES) response.writeContinue();
    server.emit('request', request, response);
  });
  const sayClosing = closeAfterAnswers(server);
  server.listen(options.port, options.host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const publicUrl = options.publicUrl ?? localUrl(options.host, port);
  const links = createLinks(publicUrl);
  // With the prefix of the base address, and without it for a proxy that strips it.
  paths = [GATEWAY_PATH, links.path(GATEWAY_PATH)];
  guardRequests(server, links, listenerFor(publicUrl));
  return {
    ...{ port, publicUrl },
    onAgent: (take) => {
      takeAgent = take;
    },
    close: (drainMs = DRAIN_MS) => {
      sayClosing();
      return close(server, drainMs);
    },
  };
}

/**
 * A client that is not told sends its next request on a connection that is just being closed.
 *
 * @returns has the answers under way, and those that come, say that their connection is closed after them
 */
function closeAfterAnswers(server: Server): () => void {
  const open = new Set<ServerResponse>();
  let isClosing = false;
  const say = (response: ServerResponse): void => {
    if (!response.headersSent) response.setHeader('Connection', 'close');
  };
  server.on('request', (_request, response) => {
    if (isClosing) say(response);
    open.add(response);
    response.once('close', () => open.delete(response));
  });
  return () => {
    isClosing = true;
    open.forEach(say);
  };
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '';
}

function asksForWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';
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
