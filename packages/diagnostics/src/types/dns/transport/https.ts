import { isAnswerTo } from '@vantage/contract/dns-message';
import type { DnsRecord, Message } from '@vantage/contract/dns-message';
import { isIPv6 } from 'node:net';

import type { Failure } from '@vantage/contract';

import { headerOf, type Head } from '../../../http-client/response-head.ts';
import { sendHttp1 } from '../../../http-client/http1.ts';
import { againAfter, sendHttp2, type Again } from '../../../http-client/http2.ts';
import { receiveResponse } from '../../../http-client/read-response.ts';
import type { AnswerSink, Sending } from '../../../http-client/answer.ts';
import type { Request } from '../../../http-client/request.ts';
import type { TrustStore } from '../../../tls/certificate/trust-store.ts';
import {
  badResponse,
  decodeAnswer,
  failed,
  resolverFailure,
  type QueryOutcome,
  type NameServer,
  type PreparedQuery,
} from './query.ts';
import { secure, type SecureChannel } from './secure.ts';

/** The path of the examples in RFC 8484, which leaves it open (section 3). */
const DOH_PATH = '/dns-query';
const DNS_MESSAGE = 'application/dns-message';
const MAX_MESSAGE_BYTES = 0xff_ff;

/**
 * Sends a query by POST over HTTP/2, or HTTP/1.1 if the server supports no other (RFC 8484), with the client of the
 * http check. Repeats it once if the server did not process it or requires HTTP/1.1.
 */
export async function queryHttps(
  server: NameServer,
  prepared: PreparedQuery,
  trust: TrustStore,
  userAgent: string,
  signal: AbortSignal,
): Promise<QueryOutcome> {
  // RFC 8484 section 4.1: id 0, since TLS and HTTP tie the answer to the question.
  const query = prepared.withId(0);
  const askBy = async (protocols: readonly string[]): Promise<Tried> => {
    const channel = await secure(server, protocols, trust, signal);
    if (channel.socket === null) return { ...failed(channel.failure), again: null };
    const response = await post(channel, requestOf(server, query, userAgent), signal);
    if ('failure' in response) return { ...failed(resolverFailure(response.failure)), again: response.again };
    if (!isAnswerTo(response.body, query, prepared.nameBytes)) {
      return { ...failed(badResponse('The message that came is no answer to the question.')), again: null };
    }
    const { connectMs, tlsMs } = channel;
    const { queryMs, ageSeconds } = response;
    const asked = decodeAnswer(response.body, { server, transport: 'https', connectMs, tlsMs, queryMs });
    if (asked.answer === null) return { ...asked, again: null };
    return { ...asked, answer: { ...asked.answer, message: aged(asked.answer.message, ageSeconds) }, again: null };
  };
  const first = await askBy(['h2', 'http/1.1']);
  if (first.again === null) return first;
  return askBy(first.again === 'by HTTP/1.1' ? ['http/1.1'] : ['h2', 'http/1.1']);
}

type Tried = QueryOutcome & { readonly again: Again | null };

/** The message with its TTLs reduced by its time in HTTP caches (RFC 8484 section 5.1). */
function aged(message: Message, seconds: number): Message {
  const older = (records: readonly DnsRecord[]): DnsRecord[] =>
    records.map((record) => ({ ...record, ttl: Math.max(0, record.ttl - seconds) }));
  const { answers, authority, additional } = message;
  return { ...message, answers: older(answers), authority: older(authority), additional: older(additional) };
}

/** The Age header (RFC 9111 section 5.1): seconds in caches; 0 if it is absent or invalid. */
function ageOf(head: Head): number {
  const text = headerOf(head, 'age');
  return text !== undefined && /^\d{1,10}$/.test(text.trim()) ? Number(text) : 0;
}

function requestOf(server: NameServer, query: Uint8Array, userAgent: string): Request {
  return {
    url: new URL(`https://${authority(server)}${DOH_PATH}`),
    method: 'POST',
    headers: [
      ['User-Agent', userAgent],
      ['Accept', DNS_MESSAGE],
      ['Accept-Encoding', 'identity'],
      ['Content-Type', DNS_MESSAGE],
      ['Content-Length', String(query.length)],
    ],
    body: query,
    maxBodyBytes: MAX_MESSAGE_BYTES,
    followsRedirects: false,
  };
}

type Response =
  | { readonly body: Uint8Array; readonly queryMs: number; readonly ageSeconds: number }
  | { readonly failure: Failure; readonly again: Again | null };

async function post(channel: SecureChannel, request: Request, signal: AbortSignal): Promise<Response> {
  const { socket, endedTls, explain, receivedBytes } = channel;
  const chunks: Uint8Array[] = [];
  const send = (sink: AnswerSink): Sending => {
    const collecting: AnswerSink = {
      ...sink,
      head: (head) => {
        sink.head(head);
        const refusal = headFailure(head);
        if (refusal !== null) sink.fail(() => refusal);
      },
      bytes: (bytes) => {
        chunks.push(bytes);
        sink.bytes(bytes);
      },
    };
    return socket.alpnProtocol === 'h2'
      ? sendHttp2(socket, request, collecting)
      : sendHttp1(socket, request, collecting, endedTls);
  };
  const bounds = {
    bodyCapOf: () => MAX_MESSAGE_BYTES,
    maxBodyBytes: MAX_MESSAGE_BYTES,
    limitReceived: () => undefined,
  };
  const answer = await receiveResponse(send, receivedBytes, bounds, signal, () => undefined);
  const { head, failure, peerError, firstByteMs, totalMs } = answer;
  if (failure !== null || head === null) {
    const again = head === null ? againAfter(peerError, firstByteMs === null) : null;
    return { failure: explain(failure ?? badResponse('The resolver’s HTTP answer has no head.')), again };
  }
  const body = Buffer.concat(chunks);
  if (body.length > MAX_MESSAGE_BYTES) {
    return { failure: badResponse('The answer is longer than a DNS message can be.'), again: null };
  }
  return { body, queryMs: totalMs, ageSeconds: ageOf(head) };
}

/**
 * Why an answer with this head holds no readable DNS message, `null` if it may: RFC 8484 section 4.2.1 requires a 2xx
 * status and the media type; a content coding is not decoded.
 */
function headFailure(head: Head): Failure | null {
  const { statusCode } = head;
  if (statusCode < 200 || statusCode > 299) {
    const message = `The resolver answered with HTTP status ${statusCode}.`;
    return { code: 'http_status', phase: 'response', source: 'resolver', message };
  }
  const mediaType = headerOf(head, 'content-type')?.split(';')[0]?.trim().toLowerCase();
  if (mediaType !== DNS_MESSAGE) return badResponse('The resolver’s HTTP answer does not hold a DNS message.');
  const coding = headerOf(head, 'content-encoding')?.trim().toLowerCase() ?? '';
  if (coding === '' || coding === 'identity') return null;
  return badResponse('The resolver compressed its HTTP answer, though the request asked for none of it (identity).');
}

function authority(server: NameServer): string {
  const host = isIPv6(server.target.host) ? `[${server.target.host}]` : server.target.host;
  return server.port === 443 ? host : `${host}:${server.port}`;
}
