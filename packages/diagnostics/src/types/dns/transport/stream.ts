import { isAnswerTo } from '@vantage/contract/dns-message';
import { randomInt } from 'node:crypto';
import type { Duplex } from 'node:stream';

import { classifyError, timedOut } from '../../../shared/classify-error.ts';
import { connectPinned } from '../../../sockets/connect.ts';
import type { TrustStore } from '../../../tls/certificate/trust-store.ts';
import {
  badResponse,
  decodeAnswer,
  failed,
  resolverFailure,
  type Answer,
  type QueryOutcome,
  type NameServer,
  type PreparedQuery,
} from './query.ts';
import { secure } from './secure.ts';

/** Sends a query over a separate TCP connection (RFC 7766). */
export async function queryTcp(
  server: NameServer,
  prepared: PreparedQuery,
  signal: AbortSignal,
): Promise<QueryOutcome> {
  const connected = await connectPinned(server.target, server.port, signal);
  if (connected.socket === null) return failed(resolverFailure(connected.failure));
  const common = { server, transport: 'tcp', connectMs: connected.ms, tlsMs: null } as const;
  return exchange(connected.socket, prepared, common, signal);
}

/** Sends a query over TLS (RFC 7858). */
export async function queryTls(
  server: NameServer,
  prepared: PreparedQuery,
  trust: TrustStore,
  signal: AbortSignal,
): Promise<QueryOutcome> {
  const secured = await secure(server, ['dot'], trust, signal);
  if (secured.socket === null) return failed(secured.failure);
  const { socket, connectMs, tlsMs } = secured;
  return exchange(socket, prepared, { server, transport: 'tls', connectMs, tlsMs }, signal);
}

/**
 * One query and one answer, each preceded by two octets of length (RFC 1035 section 4.2.2); then the stream is
 * destroyed.
 */
function exchange(
  stream: Duplex,
  prepared: PreparedQuery,
  common: Pick<Answer, 'server' | 'transport' | 'connectMs' | 'tlsMs'>,
  signal: AbortSignal,
): Promise<QueryOutcome> {
  return new Promise((resolve) => {
    const query = prepared.withId(randomInt(0x1_00_00));
    const chunks: Buffer[] = [];
    let received = 0;
    let expected: number | undefined;

    const settle = (asked: QueryOutcome): void => {
      signal.removeEventListener('abort', giveUp);
      stream.removeAllListeners().on('error', () => undefined);
      stream.destroy();
      resolve(asked);
    };
    const giveUp = (): void => settle(failed(resolverFailure(timedOut('response'))));
    const started = performance.now();
    stream.on('error', (error) => settle(failed(resolverFailure(classifyError(error, 'response')))));
    stream.on('end', () => settle(failed(closedEarly())));
    stream.on('close', () => settle(failed(closedEarly())));
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      received += chunk.length;
      if (expected === undefined && received >= 2) expected = 2 + Buffer.concat(chunks).readUInt16BE(0);
      if (expected === undefined || received < expected) return;
      const queryMs = performance.now() - started;
      const bytes = Buffer.concat(chunks).subarray(2, expected);
      settle(read(bytes, query, prepared, { ...common, queryMs }));
    });
    signal.addEventListener('abort', giveUp);
    if (signal.aborted) return giveUp();
    // One write: length and message in one segment (RFC 7766 section 8).
    stream.write(Buffer.concat([Buffer.of(query.length >> 8, query.length & 0xff), query]));
  });
}

/** On a connection to the pinned address, a mismatched answer is the server's fault. */
function read(
  bytes: Uint8Array,
  query: Uint8Array,
  prepared: PreparedQuery,
  common: Omit<Answer, 'message' | 'bytes'>,
): QueryOutcome {
  if (!isAnswerTo(bytes, query, prepared.nameBytes)) {
    return failed(badResponse('The message that came is no answer to the question.'));
  }
  return decodeAnswer(bytes, common);
}

function closedEarly(): ReturnType<typeof badResponse> {
  const message = 'The resolver closed the connection before it had answered.';
  return { code: 'connection_closed', phase: 'response', source: 'resolver', message };
}
