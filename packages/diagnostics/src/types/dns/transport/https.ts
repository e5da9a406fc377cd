import { isAnswerTo } from '@vantage/contract/dns-message';
import type { DnsRecord, Message } from '@vantage/contract/dns-message';
import { request as requestHttp } from 'node:http';
import { connect as connectHttp2, constants } from 'node:http2';
import { isIPv6 } from 'node:net';
import type { Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';

import type { Failure } from '@vantage/contract';

import { classifyError, timedOut } from '../../../shared/classify-error.ts';

import type { TrustStore } from '../../../tls/certificate/trust-store.ts';
import {
  badResponse,
  decodeAnswer,
  failed,
  resolverFailure,
  type Asked,
  type NameServer,
  type PreparedQuery,
} from './exchange.ts';
import { secure } from './secure.ts';

/** The path that public resolvers serve (RFC 8484 section 3 leaves it open). */
const DOH_PATH = '/dns-query';
const DNS_MESSAGE = 'application/dns-message';
const MAX_MESSAGE_BYTES = 0xff_ff;
const MAX_INTERIM_ANSWERS = 16;
const MAX_HEADER_BYTES = 8 * 1024;

/** Asks by POST over HTTP/2, or HTTP/1.1 where the server speaks no other (RFC 8484). */
export async function askHttps(
  server: NameServer,
  prepared: PreparedQuery,
  trust: TrustStore,
  userAgent: string,
  signal: AbortSignal,
): Promise<Asked> {
  const secured = await secure(server, ['h2', 'http/1.1'], trust, signal);
  if (secured.socket === null) return failed(secured.failure);
  const { socket, connectMs, tlsMs } = secured;
  // RFC 8484 section 4.1: id 0, since TLS and HTTP tie the answer to the question.
  const query = prepared.withId(0);
  const post = socket.alpnProtocol === 'h2' ? postHttp2 : postHttp1;
  const started = performance.now();
  const response = await post({ socket, authority: authority(server), userAgent, query, signal });
  const queryMs = performance.now() - started;
  socket.destroy();
  if ('failure' in response) return failed(resolverFailure(response.failure));
  if (!isAnswerTo(response.body, query, prepared.nameBytes)) {
    return failed(badResponse('The message that came is no answer to the question.'));
  }
  const asked = decodeAnswer(response.body, { server, transport: 'https', connectMs, tlsMs, queryMs });
  if (asked.answer === null) return asked;
  return { ...asked, answer: { ...asked.answer, message: aged(asked.answer.message, response.ageSeconds) } };
}

/** RFC 8484 section 5.1: what an HTTP cache on the way has held for so long lives so much shorter. */
function aged(message: Message, seconds: number): Message {
  const older = (records: readonly DnsRecord[]): DnsRecord[] =>
    records.map((record) => ({ ...record, ttl: Math.max(0, record.ttl - seconds) }));
  const { answers, authority, additional } = message;
  return { ...message, answers: older(answers), authority: older(authority), additional: older(additional) };
}

/** The Age header (RFC 9111 section 5.1): seconds in a cache; a value that is none counts as nothing. */
function ageOf(header: string | string[] | undefined): number {
  const text = Array.isArray(header) ? header[0] : header;
  return text !== undefined && /^\d{1,10}$/.test(text.trim()) ? Number(text) : 0;
}

interface Post {
  readonly socket: TLSSocket;
  readonly authority: string;
  readonly userAgent: string;
  readonly query: Uint8Array;
  readonly signal: AbortSignal;
}

type Response = { readonly body: Uint8Array; readonly ageSeconds: number } | { readonly failure: Failure };

function postHttp2({ socket, authority, userAgent, query, signal }: Post): Promise<Response> {
  return new Promise((resolve) => {
    const session = connectHttp2(`https://${authority}`, {
      createConnection: () => socket,
      settings: { enablePush: false, maxHeaderListSize: MAX_HEADER_BYTES },
    });
    const settle = (response: Response): void => {
      signal.removeEventListener('abort', giveUp);
      session.removeAllListeners().on('error', () => undefined);
      session.destroy();
      resolve(response);
    };
    const fail = (error: unknown): void => settle({ failure: classifyError(error, 'response') });
    const giveUp = (): void => settle({ failure: timedOut('response') });
    session.on('error', fail);
    session.on('close', () => settle({ failure: closedEarly() }));
    signal.addEventListener('abort', giveUp);
    if (signal.aborted) return giveUp();

    const stream = session.request({
      [constants.HTTP2_HEADER_METHOD]: 'POST',
      [constants.HTTP2_HEADER_PATH]: DOH_PATH,
      'user-agent': userAgent,
      accept: DNS_MESSAGE,
      'content-type': DNS_MESSAGE,
      'content-length': query.length,
    });
    let interim = 0;
    stream.on('headers', () => {
      if (++interim > MAX_INTERIM_ANSWERS) settle({ failure: tooManyInterim() });
    });
    stream.on('error', fail);
    stream.on('response', (headers) => {
      const refusal = headFailure(Number(headers[':status']), headers['content-type']);
      if (refusal === null) collect(stream, ageOf(headers['age']), settle);
      else settle({ failure: refusal });
    });
    stream.end(query);
  });
}

function postHttp1({ socket, authority, userAgent, query, signal }: Post): Promise<Response> {
  return new Promise((resolve) => {
    const request = requestHttp({
      createConnection: () => socket,
      method: 'POST',
      path: DOH_PATH,
      maxHeaderSize: MAX_HEADER_BYTES,
      headers: {
        host: authority,
        'user-agent': userAgent,
        accept: DNS_MESSAGE,
        'content-type': DNS_MESSAGE,
        'content-length': query.length,
      },
    });
    const settle = (response: Response): void => {
      signal.removeEventListener('abort', giveUp);
      request.removeAllListeners().on('error', () => undefined);
      request.destroy();
      resolve(response);
    };
    const giveUp = (): void => settle({ failure: timedOut('response') });
    let interim = 0;
    request.on('information', () => {
      if (++interim > MAX_INTERIM_ANSWERS) settle({ failure: tooManyInterim() });
    });
    request.on('error', (error) => settle({ failure: classifyError(error, 'response') }));
    request.on('response', (response) => {
      const refusal = headFailure(response.statusCode ?? 0, response.headers['content-type']);
      if (refusal === null) collect(response, ageOf(response.headers.age), settle);
      else settle({ failure: refusal });
    });
    signal.addEventListener('abort', giveUp);
    if (signal.aborted) return giveUp();
    request.end(query);
  });
}

function collect(body: Readable, ageSeconds: number, settle: (response: Response) => void): void {
  const chunks: Buffer[] = [];
  let length = 0;
  body.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_MESSAGE_BYTES) settle({ failure: badResponse('The answer is longer than a DNS message can be.') });
  });
  body.on('error', (error) => settle({ failure: classifyError(error, 'response') }));
  body.on('end', () => settle({ body: Buffer.concat(chunks), ageSeconds }));
}

/** RFC 8484 section 4.2.1: only a 2xx answer of the media type holds a DNS message. */
function headFailure(status: number, contentType: string | undefined): Failure | null {
  if (status < 200 || status > 299) {
    const message = `The resolver answered with HTTP status ${status}.`;
    return { code: 'http_status', phase: 'response', source: 'resolver', message };
  }
  const mediaType = contentType?.split(';')[0]?.trim().toLowerCase();
  return mediaType === DNS_MESSAGE ? null : badResponse('The resolver’s HTTP answer does not hold a DNS message.');
}

function authority(server: NameServer): string {
  const host = isIPv6(server.target.host) ? `[${server.target.host}]` : server.target.host;
  return server.port === 443 ? host : `${host}:${server.port}`;
}

function tooManyInterim(): Failure {
  const message = 'The resolver sent too many interim (1xx) answers.';
  return { code: 'http_too_many_interim', phase: 'response', source: 'resolver', message };
}

function closedEarly(): Failure {
  const message = 'The resolver closed the connection before it had answered.';
  return { code: 'connection_closed', phase: 'response', source: 'resolver', message };
}
