import type { Socket } from 'node:net';

import { classifyError, connectionClosed, headTooLarge } from '../shared/classify-error.ts';
import { fault } from './read-response.ts';
import type { AnswerSink, Sending } from './answer.ts';
import type { Request } from './request.ts';
import { Http1Reader } from './http1/reader.ts';
import type { ResponseFault } from './http1/sink.ts';

/**
 * Sends an HTTP/1.1 request over a connected socket, and owns it from then on. Node's parser is not used: it rejects
 * responses that browsers accept, and in lenient mode does not report their deviations.
 *
 * @param endedInOrder for the end of the connection: false if data may have been truncated
 */
export function sendHttp1(socket: Socket, request: Request, sink: AnswerSink, endedInOrder: () => boolean): Sending {
  const reader = new Http1Reader(request.method, {
    interim: sink.interim,
    head: sink.head,
    body: sink.bytes,
    end: sink.end,
    cut: sink.cut,
    fault: (found) => sink.fail(failureOf(found)),
    deviation: sink.deviation,
  });
  socket.on('data', (bytes: Buffer) => {
    sink.firstByte();
    reader.push(bytes);
    sink.received(bytes.length);
  });
  socket.on('end', () => reader.close(endedInOrder()));
  socket.on('error', (error) => sink.fail((phase) => classifyError(error, phase)));
  socket.on('close', () => sink.fail(connectionClosed));
  socket.write(Buffer.concat([Buffer.from(textOf(request), 'latin1'), request.body ?? Buffer.alloc(0)]));
  return { stop: () => void socket.destroy(), partialHead: () => reader.partialHead(), allowBody: () => undefined };
}

function textOf({ url, method, headers, host = url.host }: Request): string {
  const lines = [['Host', host], ...headers, ['Connection', 'close']].map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

function failureOf(found: ResponseFault): Parameters<AnswerSink['fail']>[0] {
  if (found.kind === 'closed') return connectionClosed;
  if (found.kind === 'too large') return headTooLarge;
  return fault('http_malformed', `The answer was not valid HTTP: ${found.reason}.`);
}
