import { execFile } from 'node:child_process';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { once } from 'node:events';
import { promisify } from 'node:util';

import { launch, type CDPSession, type Page } from 'puppeteer';

import { frameReader, frameTypes } from '../src/http-client/http2/frames.ts';
import type { FrameAnswer } from './http2-corpus.ts';
import type { RawAnswer } from './http-corpus.ts';
import { undisturbed } from './undisturbed.ts';

/** A program's verdict on a response: `200 2` is status and body size; otherwise the reason of its refusal. */
export type ReaderVerdict = string;

/** Serves one response to all clients while `use` runs. */
export function servingRaw<T>(answer: RawAnswer, use: (url: string) => Promise<T>): Promise<T> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write(Buffer.from(answer.bytes, 'latin1'));
      if (answer.staysOpen !== true) socket.end();
    });
  });
  return serving(server, 'http', use);
}

/** Serves one response over HTTP/2 with TLS to all clients while `use` runs; it is sent after a request. */
export function servingFrames<T>(
  answer: FrameAnswer,
  identity: { readonly cert: string; readonly key: string },
  use: (url: string) => Promise<T>,
): Promise<T> {
  const server = createTlsServer({ ...identity, ALPNProtocols: ['h2'] }, (socket) => {
    const read = frameReader(({ type, stream }) => {
      if (type !== frameTypes.headers || stream !== 1) return true;
      socket.write(answer.bytes);
      if (answer.closes === true) socket.end();
      return true;
    });
    let received = 0;
    socket
      .on('error', () => undefined)
      .on('data', (bytes: Buffer) => {
        const preface = Math.max(0, PREFACE_BYTES - received);
        received += bytes.length;
        read(bytes.subarray(preface));
      });
  });
  return serving(server, 'https', use);
}

/** Length of the connection preface of an HTTP/2 client (RFC 9113 section 3.4). */
const PREFACE_BYTES = 24;

async function serving<T>(server: Server, protocol: 'http' | 'https', use: (url: string) => Promise<T>): Promise<T> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  server.on('tlsClientError', () => undefined);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    return await use(`${protocol}://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
}

/** Verdict of curl: `exit` and its exit code if that is not 0. */
export async function askCurl(
  url: string,
  method: RawAnswer['method'],
  more: readonly string[] = [],
): Promise<ReaderVerdict> {
  const format = '%{http_code} %{size_download} %{exitcode}';
  const args = ['--silent', '--max-time', '30', '--output', '/dev/null', '--write-out', format, ...more];
  const { stdout } = await run('curl', [...args, ...(method === 'HEAD' ? ['--head'] : []), url]).catch(
    (error: unknown) => error as { readonly stdout: string },
  );
  const [status, bytes, exit] = stdout.split(' ');
  return exit === '0' ? `${Number(status)} ${bytes}` : `exit ${exit}`;
}

/** The version of curl, such as `7.88`; null if it is not installed. */
export async function curlVersion(): Promise<string | null> {
  const { stdout } = await run('curl', ['--version']).catch(() => ({ stdout: '' }));
  return /^curl (\d+\.\d+)/.exec(stdout)?.[1] ?? null;
}

/** A browser that loads one response after another and reports its verdicts. */
export interface Chromium {
  readonly ask: (url: string) => Promise<ReaderVerdict>;
  readonly close: () => Promise<void>;
}

/** Chromium without the proxy and the sandbox of the screenshots: it loads only the responses of the test. */
export async function startChromium(executablePath: string): Promise<Chromium> {
  const browser = await launch({ executablePath, args: ['--no-sandbox', '--ignore-certificate-errors'] });
  const page = await browser.newPage();
  const session = await page.createCDPSession();
  await session.send('Network.enable');
  const ask = async (url: string): Promise<ReaderVerdict> => (await load(session, url)) ?? visit(page, session, url);
  return { ask: (url) => undisturbed(() => ask(url)), close: () => browser.close() };
}

/**
 * Asks the network service: a page that fails to load starts a renderer process each time.
 *
 * @returns undefined for a status other than 200, of which the service does not tell what a page does
 */
async function load(session: CDPSession, url: string): Promise<ReaderVerdict | undefined> {
  const { frameTree } = await session.send('Page.getFrameTree');
  const options = { disableCache: true, includeCredentials: false };
  const asked = { frameId: frameTree.frame.id, url, options };
  const { resource } = await session.send('Network.loadNetworkResource', asked);
  const { netErrorName = '', httpStatusCode, stream } = resource;
  const length = stream === undefined ? 0 : await lengthOf(session, stream);
  if (httpStatusCode !== undefined && httpStatusCode !== 200) return undefined;
  return /ERR_[A-Z0-9_]+/.exec(netErrorName)?.[0] ?? `${httpStatusCode} ${length}`;
}

async function lengthOf(session: CDPSession, handle: string): Promise<number> {
  let length = 0;
  for (let isRead = false; !isRead;) {
    const { data, base64Encoded = false, eof } = await session.send('IO.read', { handle });
    length += Buffer.from(data, base64Encoded ? 'base64' : 'utf8').length;
    isRead = eof;
  }
  await session.send('IO.close', { handle });
  return length;
}

/** Opens the URL in the page. */
async function visit(page: Page, session: CDPSession, url: string): Promise<ReaderVerdict> {
  const ended = Promise.withResolvers<string | null>();
  let [status, id] = [0, ''];
  session.on('Network.responseReceived', ({ response, requestId, type }) => {
    if (type === 'Document') [status, id] = [response.status, requestId];
  });
  session.on('Network.loadingFinished', ({ requestId }) => {
    if (requestId === id) ended.resolve(null);
  });
  session.on('Network.loadingFailed', ({ errorText, type }) => {
    if (type === 'Document') ended.resolve(errorText);
  });
  const opened = page.goto(url, { timeout: 30_000 }).catch(() => undefined);
  const failure = await ended.promise;
  await opened;
  session.removeAllListeners();
  // The browser stays on the previous page after a status without content.
  if (failure === 'net::ERR_ABORTED' && [204, 205].includes(status)) return `${status} 0`;
  if (failure !== null) return failure.replace('net::', '');
  const { body, base64Encoded } = await session.send('Network.getResponseBody', { requestId: id });
  return `${status} ${Buffer.from(body, base64Encoded ? 'base64' : 'utf8').length}`;
}

const run = promisify(execFile);
