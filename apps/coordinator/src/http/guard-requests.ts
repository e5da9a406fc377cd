import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import { readFirstTimer } from '@vantage/timers';

import { answerInTurn } from './limits/answer-in-turn.ts';
import { commonHeaders } from './request-context.ts';
import type { Links } from './links.ts';
import { createLiveList, type LiveList } from '../live-list.ts';
import { STATUS_CODES } from '../node-http.ts';
import { HttpProblem, PROBLEM_MEDIA_TYPE, problemDocument } from './problem.ts';
import { requestFault } from './request-fault.ts';

/** Methods that at least one path supports. */
const methods = 'GET, HEAD, POST, PUT, DELETE, OPTIONS';

type ClientError = Error & { readonly code?: string };

const REQUEST_TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT';

/** Time for a client to read the last response and close the connection, or to send the rest of a late body. */
const LINGER_MS = 1_000;

/**
 * Answers requests that never reach `listener`: parser errors and timeouts, requests with a fault that Node accepts,
 * CONNECT, and `OPTIONS *`. Bounds the unanswered requests of a connection, and closes idle connections.
 *
 * @param listener handles every other request
 * @param onExcess runs for each connection that is closed for its number of unanswered requests
 * @returns a function: true if a connection has unanswered requests
 */
export function guardRequests(
  server: Server,
  links: Links,
  listener: RequestListener,
  onExcess: () => void,
): (socket: Duplex) => boolean {
  const servedOn = trackRequests(server);
  const newestOf = (socket: Duplex): IncomingMessage | undefined => servedOn(socket).newest;
  /** Connections that switched to another protocol. */
  const upgraded = new WeakSet<Duplex>();
  server.on('upgrade', (_request, socket) => upgraded.add(socket));
  server.on('clientError', (error: ClientError, socket) => {
    const refuseIt = (): void => {
      if (!upgraded.has(socket)) refuseError(error, socket, [...servedOn(socket).owed], links);
    };
    if (error.code === REQUEST_TIMEOUT) refuseUnlessArrived(newestOf, socket, refuseIt);
    else refuseIt();
  });
  server.on('timeout', closeUnlessArrived);
  server.on('connect', (_request, socket) => refuseInTurn(notAProxy(), socket, [...servedOn(socket).owed], links));
  const answer: RequestListener = (request, response) => {
    const fault = requestFault(request);
    if (fault !== undefined) answerFault(fault, response, links);
    else if (request.url === '*') response.writeHead(204, { Allow: methods }).end();
    else listener(request, response);
  };
  server.on('request', answerInTurn(answer, onExcess));
  return (socket) => [...servedOn(socket).owed].length > 0;
}

/**
 * Refuses a request that has timed out. After a stall of the process, data that has arrived may be unread: it is read
 * first, and a request that is then complete is answered. One whose head was read only then, and whose body is
 * incomplete, gets a further second.
 */
function refuseUnlessArrived(
  newestOf: (socket: Duplex) => IncomingMessage | undefined,
  socket: Duplex,
  refuseIt: () => void,
  milliseconds = 0,
): void {
  const before = newestOf(socket);
  const wasWhole = before?.complete === true;
  readFirstTimer(() => {
    const newest = newestOf(socket);
    const isNew = newest !== before;
    if (newest?.complete === true && (isNew || !wasWhole)) return;
    if (isNew) refuseUnlessArrived(newestOf, socket, refuseIt, LINGER_MS);
    else refuseIt();
  }, milliseconds);
}

/**
 * Closes a connection that is idle for too long. It stays open if its next request has arrived, which may be unread
 * after a stall of the process.
 */
function closeUnlessArrived(socket: Socket): void {
  const { bytesRead } = socket;
  setImmediate(() => {
    if (socket.bytesRead === bytesRead) socket.destroy();
  });
}

/** The requests of a connection. */
interface Served {
  newest: IncomingMessage | undefined;
  /** Responses that are not sent yet, oldest first. */
  readonly owed: LiveList<ServerResponse>;
}

/** @returns a function from a connection to its newest request and its responses that are not sent yet */
function trackRequests(server: Server): (socket: Duplex) => Served {
  // No `WeakMap`, which would keep connections in memory (`live-list.ts`).
  const key = Symbol('served');
  const servedOn = (socket: Duplex & { [key]?: Served }): Served =>
    (socket[key] ??= { newest: undefined, owed: createLiveList() });
  server.on('request', (request, response) => {
    if (request.socket.destroyed) return;
    const served = servedOn(request.socket);
    served.newest = request;
    response.once('close', served.owed.add(response));
  });
  return servedOn;
}

/** Refuses on the socket itself, because a parser error comes without a response object. */
function refuseError(error: ClientError, socket: Duplex, owed: readonly ServerResponse[], links: Links): void {
  if (error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const before = owed.filter(({ req, headersSent }) => req.complete || headersSent);
  refuseInTurn(problemOf(error.code), socket, before, links);
}

/**
 * Refuses a request. If earlier ones are unanswered, the refusal would be taken for the response to one of them: the
 * connection is then closed after the last of these, without a refusal.
 */
function refuseInTurn(problem: HttpProblem, socket: Duplex, before: readonly ServerResponse[], links: Links): void {
  const last = before.at(-1);
  if (last === undefined) refuse(problem, socket, links);
  else last.once('close', () => endSoon(socket));
}

function refuse(problem: HttpProblem, socket: Duplex, links: Links): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const { headers, body } = faultAnswer(problem, links);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  endSoon(socket, [`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`, ...lines, '', body].join('\r\n'));
}

/** Ends a connection; destroys it after `LINGER_MS`, because a client could keep it open. */
function endSoon(socket: Duplex, text = ''): void {
  socket.end(text);
  // Unread data could cause a reset, which discards the response.
  socket.resume();
  const late = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(late));
}

/**
 * Answers a faulty request and ends the connection (`Connection: close`), because the end of the request may be
 * ambiguous.
 */
function answerFault(problem: HttpProblem, response: ServerResponse, links: Links): void {
  const { headers, body } = faultAnswer(problem, links);
  response.writeHead(problem.status, headers).end(body);
}

function faultAnswer(
  problem: HttpProblem,
  links: Links,
): { readonly headers: Readonly<Record<string, string>>; readonly body: string } {
  const requestId = randomUUID();
  const body = JSON.stringify(problemDocument(problem, links, '', requestId));
  const headers = {
    ...Object.fromEntries(commonHeaders),
    'Content-Type': PROBLEM_MEDIA_TYPE,
    'Content-Length': String(Buffer.byteLength(body)),
    'Cache-Control': 'no-store',
    'X-Request-Id': requestId,
    Connection: 'close',
    ...problem.headers,
  };
  return { headers, body };
}

function notAProxy(): HttpProblem {
  return new HttpProblem('method-not-allowed', 'The service is no proxy.', { headers: { Allow: methods } });
}

function problemOf(code: string | undefined): HttpProblem {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new HttpProblem('headers-too-large', 'The request line and the headers are larger than 8 KiB.');
  }
  if (code === REQUEST_TIMEOUT) {
    return new HttpProblem('request-timeout', 'The request did not arrive in time.');
  }
  return new HttpProblem('invalid-http', 'The request is not valid HTTP.');
}
