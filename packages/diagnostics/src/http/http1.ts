import { request } from 'node:http';
import type { Socket } from 'node:net';

import { classifyError, connectionClosed } from '../classify.ts';
import { fault, MAX_HEAD_BYTES, type AnswerSink } from './receive.ts';
import type { Request } from './request.ts';

/**
 * Sends a request by HTTP/1.1 over a connected socket, which it takes over.
 *
 * @returns what ends it and its socket
 */
export function sendHttp1(socket: Socket, { url, method, headers }: Request, sink: AnswerSink): () => void {
  const outgoing = request({
    // No `agent`, not even `false`: an agent would resolve the name and connect by itself.
    createConnection: () => socket,
    method,
    path: `${url.pathname}${url.search}`,
    headers: ['Host', url.host, ...headers.flat()],
    maxHeaderSize: MAX_HEAD_BYTES,
    insecureHTTPParser: false,
  });
  outgoing.on('socket', () => socket.prependOnceListener('data', sink.firstByte));
  outgoing.on('information', sink.interim);
  outgoing.on('upgrade', () => sink.fail(fault('http_malformed', 'The target switched protocols unasked.')));
  outgoing.on('error', (error) => sink.fail((phase) => classifyError(error, phase)));
  outgoing.on('close', () => sink.fail(connectionClosed));
  outgoing.on('response', (response) => {
    sink.head({
      statusCode: response.statusCode ?? 0,
      statusText: response.statusMessage ?? '',
      httpVersion: response.httpVersion,
      rawHeaders: response.rawHeaders,
    });
    response.on('data', sink.bytes);
    response.on('end', sink.end);
    // Node reports what broke an answer off on the request; here it says only that there is no more.
    response.on('error', (error) => sink.fail((phase) => classifyError(error, phase)));
  });
  outgoing.end();
  return () => {
    outgoing.destroy();
    socket.destroy();
  };
}
