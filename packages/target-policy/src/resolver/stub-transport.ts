import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';

import { encodeName, encodeQuery, isAnswerTo, type Query } from '@vantage/contract/dns-message';

/** A resolver of the probe. */
export interface ResolverAddress {
  readonly address: string;
  readonly port: number;
}

/** Callbacks for datagrams that are not the answer used: a truncated one, or one that does not match the query. */
export interface Overheard {
  /** The truncated answer, before TCP is tried, which may stay silent until `signal` aborts. */
  readonly cut?: (answer: Uint8Array) => void;
  /** A datagram of the server that does not answer the query: another id or question, or unreadable. */
  readonly mismatch?: () => void;
}

const TRUNCATED = 0x02;

/**
 * Sends a query over UDP, and over TCP if the answer is truncated. If TCP fails, the truncated answer is used.
 *
 * @returns the matching answer
 * @throws the network error, or the reason of `signal`
 */
export async function askServer(
  server: ResolverAddress,
  query: Omit<Query, 'id'>,
  signal: AbortSignal,
  { cut, mismatch }: Overheard = {},
): Promise<Uint8Array> {
  const id = randomInt(0x1_00_00);
  const bytes = encodeQuery({ ...query, id });
  const answers = (message: Uint8Array): boolean => isAnswerTo(message, bytes, encodeName(query.name).length);
  const answer = await askUdp(server, bytes, answers, signal, mismatch);
  if ((answer[2]! & TRUNCATED) === 0) return answer;
  cut?.(answer);
  try {
    return await askTcp(server, bytes, answers, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!Error.isError(error)) throw error;
    return answer;
  }
}

type Answers = (message: Uint8Array) => boolean;

/**
 * Queries a server over UDP by a connected socket: the kernel drops datagrams from other addresses and reports ICMP
 * errors.
 */
function askUdp(
  { address, port }: ResolverAddress,
  query: Uint8Array,
  answers: Answers,
  signal: AbortSignal,
  mismatch: Overheard['mismatch'],
): Promise<Uint8Array> {
  return settled(signal, (resolve, reject) => {
    const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
    socket.on('error', reject);
    // Mismatched datagrams are ignored (RFC 5452 section 9.1).
    socket.on('message', (message) => {
      if (answers(message)) resolve(message);
      else mismatch?.();
    });
    socket.once('connect', () => {
      socket.send(query, (error) => {
        if (error !== null) reject(error);
      });
    });
    socket.connect(port, address);
    return () => {
      socket.removeAllListeners().on('error', () => undefined);
      socket.close();
    };
  });
}

/** Queries a server over TCP, where each message follows its length (RFC 1035 section 4.2.2). */
function askTcp(
  { address, port }: ResolverAddress,
  query: Uint8Array,
  answers: Answers,
  signal: AbortSignal,
): Promise<Uint8Array> {
  return settled(signal, (resolve, reject) => {
    const socket = connect({ host: address, port });
    const endedEarly = (): void => reject(Object.assign(new Error('closed before the answer'), { code: 'ECONNRESET' }));
    let received = Buffer.alloc(0);
    socket.on('error', reject);
    socket.on('end', endedEarly);
    socket.on('close', endedEarly);
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
      const message = received.subarray(2, 2 + received.readUInt16BE(0));
      if (answers(message)) resolve(message);
      else endedEarly();
    });
    // One write: length and message in one segment (RFC 7766 section 8).
    socket.write(Buffer.concat([Buffer.of(query.length >> 8, query.length & 0xff), query]));
    return () => {
      socket.removeAllListeners().on('error', () => undefined);
      socket.destroy();
    };
  });
}

/**
 * Settles as `start` does, or rejects when the signal aborts; then calls the function that `start` returned, to release
 * resources.
 */
function settled(
  signal: AbortSignal,
  start: (resolve: (message: Uint8Array) => void, reject: (error: unknown) => void) => () => void,
): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  if (signal.aborted) return Promise.reject(signal.reason as Error);
  const giveUp = (): void => reject(signal.reason);
  signal.addEventListener('abort', giveUp);
  const release = start(resolve, reject);
  return promise.finally(() => {
    signal.removeEventListener('abort', giveUp);
    release();
  });
}
