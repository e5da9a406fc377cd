import { once } from 'node:events';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

import { GATEWAY_PATH } from '@vantage/contract';

import { boundConnections, connectionBounds, openFilesLimit, unusedConnections } from './connection-bounds.ts';
import { MOST_WAITING } from './http/limits/answer-in-turn.ts';
import { guardRequests } from './http/guard-requests.ts';
import { paceRequests } from './http/limits/pace-requests.ts';
import { createLinks } from './http/links.ts';
import { createLiveList } from './live-list.ts';
import { createServer } from './node-http.ts';
import type { Log } from './redis/log.ts';
import { MAX_BODY_BYTES } from './http/requests/read-json.ts';

/** Time for responses in progress after the service is stopped: slightly more than the longest `?wait=`. */
const DRAIN_MS = 28_000;
/** Time for the first request of a connection that was opened just before. */
const FIRST_REQUEST_MS = 1_000;
/**
 * Connections that the kernel holds until they are accepted; at most `net.core.somaxconn`. With Node's 511 it drops
 * others of a burst, whose clients try again after one second, then three.
 */
const BACKLOG = 4_096;

/** Takes over a connection whose request asks for a WebSocket. */
export type TakeUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export interface RunningServer {
  readonly port: number;
  /** The public URL: the configured one, or `http://<host>:<port>`. */
  readonly publicUrl: string;
  /** Sets the handler of WebSocket upgrades at the gateway's path; without it that path does not exist. */
  readonly onAgent: (take: TakeUpgrade | undefined) => void;
  /**
   * Accepts no more connections, waits for responses in progress, then closes the rest.
   *
   * @param drainMs longest wait
   */
  readonly close: (drainMs?: number) => Promise<void>;
}

export interface ServerOptions {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  readonly publicUrl?: string | undefined;
  /** True if every connection comes from a proxy; connections per client are then not bounded. */
  readonly behindProxies?: boolean;
  /** Limit of concurrent connections per client. */
  readonly maxConnectionsPerClient?: number;
  /** Identifies the client of a request: in an overload clients get equal shares. */
  readonly clientOf?: (request: IncomingMessage) => string;
  readonly log?: Pick<Log, 'warn'>;
  /**
   * Timeouts for the header, for the whole request and between requests, and the interval of their checks;
   * milliseconds.
   */
  readonly receipt?: Partial<typeof RECEIPT>;
}

const RECEIPT = { headersMs: 10_000, requestMs: 15_000, idleMs: 65_000, pollIntervalMs: 2_000 };

/**
 * Starts to listen. Limits of time and size apply before any handler runs.
 *
 * @param listenerFor creates the request listener for the public URL
 */
export async function startServer(
  options: ServerOptions,
  listenerFor: (publicUrl: string) => RequestListener,
): Promise<RunningServer> {
  const { headersMs, requestMs, idleMs, pollIntervalMs } = { ...RECEIPT, ...options.receipt };
  let takeAgent: TakeUpgrade | undefined;
  let paths: readonly string[] = [];
  let hasUnanswered: (socket: Duplex) => boolean = () => false;
  const server = createServer({
    maxHeaderSize: 8 * 1024,
    headersTimeout: headersMs,
    // Bounds the receipt of a request only; a response may take longer (`?wait=`).
    requestTimeout: requestMs,
    connectionsCheckingInterval: pollIntervalMs,
    keepAliveTimeout: idleMs,
    requireHostHeader: false,
    // Upgrade headers of other requests are ignored (RFC 9110 section 7.8), and those of a request pipelined behind
    // unanswered ones: its 101 would be taken for the answer to the first of them.
    shouldUpgradeCallback: (request) =>
      takeAgent !== undefined &&
      paths.includes(pathOf(request)) &&
      asksForWebSocket(request) &&
      !hasUnanswered(request.socket),
  });
  server.on('upgrade', (request, socket, head) => takeAgent?.(request, socket, head));
  const { most, mostPerClient } = connectionBounds(openFilesLimit());
  server.maxConnections = most;
  if (options.behindProxies !== true) boundConnections(server, options.maxConnectionsPerClient ?? mostPerClient);
  // An expectation other than 100-continue may be ignored (RFC 9110 section 10.1.1); Node's default 417 has no body.
  server.on('checkExpectation', (request, response) => void server.emit('request', request, response));
  // No `100 Continue` for a body that is too large by its header.
  server.on('checkContinue', (request, response) => {
    if (Number(request.headers['content-length'] ?? 0) <= MAX_BODY_BYTES) response.writeContinue();
    server.emit('request', request, response);
  });
  const closeUnused = unusedConnections(server);
  server.listen(options.port, options.host, BACKLOG);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const publicUrl = options.publicUrl ?? localUrl(options.host, port);
  const links = createLinks(publicUrl);
  // Agents may connect with the path of the public URL, and without it for a proxy that strips it.
  paths = [GATEWAY_PATH, links.path(GATEWAY_PATH)];
  const { listener, sayClosing } = closeAfterAnswers(listenerFor(publicUrl));
  hasUnanswered = guardRequests(server, links, paceRequests(server, listener, { clientOf: options.clientOf }), () =>
    options.log?.warn({ limit: MOST_WAITING }, 'connection closed: too many requests before an answer'),
  );
  return {
    port,
    publicUrl,
    onAgent: (take) => {
      takeAgent = take;
    },
    close: (drainMs = DRAIN_MS) => {
      sayClosing();
      return close(server, drainMs, closeUnused);
    },
  };
}

/**
 * Prepares `Connection: close` for all responses of a server that closes: without it, a client may send its next
 * request on a connection that is being closed.
 *
 * @returns the listener to use, and a function that adds the header to later responses, and to current ones whose
 * headers are not sent yet
 */
function closeAfterAnswers(listener: RequestListener): { listener: RequestListener; sayClosing: () => void } {
  const open = createLiveList<ServerResponse>();
  let isClosing = false;
  const say = (response: ServerResponse): void => {
    if (!response.headersSent) response.setHeader('Connection', 'close');
  };
  return {
    listener: (request, response) => {
      if (isClosing) say(response);
      response.once('close', open.add(response));
      listener(request, response);
    },
    sayClosing: () => {
      isClosing = true;
      for (const response of open) say(response);
    },
  };
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '';
}

function asksForWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';
}

/** A URL for programs on this machine; unspecified addresses are replaced. */
function localUrl(host: string, port: number): string {
  if (host === '' || host === '0.0.0.0' || host === '::') return `http://localhost:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

async function close(server: Server, drainMs: number, closeUnused: () => void): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  // A response in progress may keep its connection alive: it is closed as soon as it is idle.
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  const unused = setTimeout(closeUnused, FIRST_REQUEST_MS);
  const late = setTimeout(() => server.closeAllConnections(), drainMs);
  await closed;
  for (const timer of [idle, unused, late]) clearTimeout(timer);
}
