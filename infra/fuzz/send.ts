import { connect } from 'node:net';

import type { FuzzRequest } from './requests.ts';

/** The final response on one connection. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  readonly milliseconds: number;
}

/** Longest time for a response, far above any promise of the service, so that a slow machine is no fault. */
export const HANG_MS = 40_000;

/**
 * Sends the bytes of a request on a separate connection.
 *
 * @returns the first final answer; undefined if the connection was closed without one
 * @throws if there is no complete answer within `HANG_MS`
 */
export async function send(port: number, { bytes, method, isStream }: FuzzRequest): Promise<RawAnswer | undefined> {
  const startedAt = performance.now();
  const chunks: Buffer[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer | undefined>();
  const socket = connect(port, '127.0.0.1');
  const finish = (ended: boolean): void => {
    const answer = parse(Buffer.concat(chunks), method, ended || isStream);
    if (answer === undefined && !ended) return;
    clearTimeout(timer);
    socket.destroy();
    resolve(answer && { ...answer, milliseconds: performance.now() - startedAt });
  };
  const timer = setTimeout(() => {
    socket.destroy();
    reject(new Error(`no answer within ${HANG_MS} ms`));
  }, HANG_MS);
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    finish(false);
  });
  // A server that stops reading resets the connection; data before that counts.
  socket.on('error', () => undefined);
  socket.on('close', () => finish(true));
  socket.write(bytes);
  return promise;
}

type Parsed = Omit<RawAnswer, 'milliseconds'>;

/** The first final response, or undefined while it is incomplete. */
function parse(received: Buffer, method: string, isEnd: boolean): Parsed | undefined {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = received.subarray(0, end).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3})( |$)/.exec(first)?.[1]);
  const rest = received.subarray(end + 4);
  if (status < 200) return parse(rest, method, isEnd);
  const headers = new Headers(
    lines.map((line): [string, string] => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const hasNone = method === 'HEAD' || status === 204 || status === 304;
  const length = hasNone ? 0 : Number(headers.get('Content-Length') ?? Number.NaN);
  if (Number.isNaN(length)) return isEnd ? { status, headers, body: '' } : undefined;
  if (rest.length < length) return undefined;
  return { status, headers, body: rest.subarray(0, length).toString('utf8') };
}
