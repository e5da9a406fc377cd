import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterEach, describe, expect, it } from '@jest/globals';

import { startServer, type RunningServer, type ServerOptions } from './server.ts';

let server: RunningServer | undefined;
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.close(0);
  server = undefined;
});

const impatient = { headersMs: 300, requestMs: 600, pollIntervalMs: 50 };

/**
 * Starts a server that responds to a complete request when the test allows it, and at once to one with a
 * `Content-Length` of 99999.
 */
async function start(
  options: Pick<ServerOptions, 'receipt' | 'maxConnectionsPerClient'> = {},
  answering: Promise<void> = Promise.resolve(),
): Promise<void> {
  server = await startServer({ host: '127.0.0.1', port: 0, ...options }, () => (request, response) => {
    if (request.headers['content-length'] === '99999') {
      response.end('too large');
      return;
    }
    request.resume();
    const isWhole = request.complete ? Promise.resolve() : once(request, 'end');
    void Promise.all([answering, isWhole]).then(
      () => response.end(`answer to ${request.url}`),
      () => undefined,
    );
  });
}

/** Opens a connection, writes the bytes, and collects the response until the end. */
function talk(bytes: string): { readonly socket: Socket; readonly answer: Promise<string> } {
  const socket = connect(server!.port, '127.0.0.1');
  sockets.push(socket);
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  socket.write(bytes, 'latin1');
  return { socket, answer: once(socket, 'close').then(() => text) };
}

/** Writes the byte repeatedly until the connection ends. */
function drip(socket: Socket, byte: string): void {
  const timer = setInterval(() => socket.write(byte), 20);
  socket.once('close', () => clearInterval(timer));
}

describe('a client that is slow', () => {
  it.each([
    ['with the first line', '', 'G'],
    ['with its headers', 'GET / HTTP/1.1\r\nHost: a\r\nX: ', 'x'],
    ['with a body of a length', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n', 'x'],
    ['with a body of chunks', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nfffff\r\n', 'x'],
  ])('answers %s and closes the connection', async (_reason, head, byte) => {
    await start({ receipt: impatient });
    const { socket, answer } = talk(head);
    drip(socket, byte);

    const text = await answer;

    expect(text).toMatch(/^HTTP\/1\.1 4(08|00) /);
    expect(text).toMatch(/^content-type: application\/problem\+json\r$/im);
  });

  it.each([
    ['nothing', ''],
    ['empty lines', '\r\n\r\n'],
    ['half a request', 'GET / HTTP/1.1\r\nHo'],
  ])('and sends %s and then no more does not keep its connection', async (_reason, bytes) => {
    await start({ receipt: impatient });

    const text = await talk(bytes).answer;

    expect(text === '' || text.startsWith('HTTP/1.1 408 ')).toBe(true);
  });
});

describe('a service that stood still', () => {
  /** Opens a connection and waits until the server has accepted it. */
  async function open(): Promise<Socket> {
    const socket = connect(server!.port, '127.0.0.1');
    sockets.push(socket);
    await once(socket, 'connect');
    // The server accepts connections in order, so it has accepted this one when it answers the next.
    await talk('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n').answer;
    return socket;
  }

  /**
   * Blocks the event loop for longer than a request may take; the loop then runs timers first, and reads sockets later.
   */
  async function standStill(act?: () => void, milliseconds = 700): Promise<void> {
    await new Promise(setImmediate);
    act?.();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
  }

  it.each([
    ['', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['GET / HTTP/1.1\r\nHo', 'st: a\r\n\r\n'],
    ['POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n', 'abc'],
  ])('answers %j%j, which arrived meanwhile', async (before, meanwhile) => {
    await start({ receipt: { headersMs: 300, requestMs: 300, pollIntervalMs: 50 } });
    const socket = await open();
    const answer = once(socket, 'data').then(String);

    socket.write(before);
    await sleep(20);
    await standStill(() => socket.write(meanwhile));

    expect(await answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  it.each([
    ['', 'GET /next HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['GET /next HTTP/1.1\r\nHo', 'st: a\r\n\r\n'],
  ])('answers %j%j on a connection that was idle for too long before it was read', async (meanwhile, afterwards) => {
    await start({ receipt: { idleMs: 300 } });
    const socket = connect(server!.port, '127.0.0.1');
    sockets.push(socket);
    socket.write('GET /first HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(socket, 'data');
    const answer = once(socket, 'data').then(String);

    // Node.js keeps an idle connection for a second longer than it announces.
    await standStill(() => socket.write(meanwhile), 2_000);
    socket.write(afterwards);

    expect(await answer).toContain('answer to /next');
  });

  it('closes a connection that is idle for too long', async () => {
    await start({ receipt: { idleMs: 100 } });

    expect(await talk('GET /only HTTP/1.1\r\nHost: a\r\n\r\n').answer).toContain('answer to /only');
  });

  it('hands over an upgrade that arrived meanwhile', async () => {
    await start({ receipt: impatient });
    server!.onAgent((_request, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
      setTimeout(() => socket.end('hello'), 100);
    });
    const socket = await open();
    const answer = text(socket);
    const headers = 'Host: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n';

    await sleep(20);
    await standStill(() =>
      socket.write(`GET /agent HTTP/1.1\r\n${headers}Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n`),
    );

    expect(await answer).toMatch(/^HTTP\/1\.1 101 .*\r\n\r\nhello$/s);
  });

  it.each([
    ['nothing', ''],
    ['half a head', 'GET / HTTP/1.1\r\nHo'],
    ['half a body', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\na'],
  ])('sends away who has still sent %s', async (_what, text) => {
    await start({ receipt: impatient });
    const { answer } = talk(text);

    await standStill();

    expect(await answer).toMatch(/^(?:HTTP\/1\.1 408 |$)/);
  });
});

describe('a client that keeps its end open', () => {
  it.each([
    ['saying nothing', ''],
    ['in the middle of a request', 'GET / HTTP/1.1\r\nHo'],
    ['before the whole body', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999\r\n\r\n'],
    ['behind a refused tunnel', 'CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n'],
  ])('%s loses its connection all the same', async (_reason, bytes) => {
    await start({ receipt: impatient, maxConnectionsPerClient: 1 });
    const socket = connect({ port: server!.port, host: '127.0.0.1', allowHalfOpen: true });
    sockets.push(socket);
    socket.on('error', () => undefined).resume();
    await once(socket, 'connect');
    socket.write(bytes);
    await once(socket, 'end');

    // Another connection is accepted only after this one has ended.
    let answer = '';
    // A stalled machine may cause a timeout response first.
    while (!answer.startsWith('HTTP/1.1 200 ')) {
      await sleep(50);
      answer = await talk('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n').answer;
    }

    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('a connection with several requests', () => {
  it('gets the answers in order, and none for what comes behind them and is no HTTP', async () => {
    const held = Promise.withResolvers<void>();
    await start({}, held.promise);
    const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
    const { answer } = talk(`${get('/one')}${get('/two')}not HTTP at all\r\n\r\n`);
    // When this is answered, the server has also read what the earlier connection sent.
    await talk('not HTTP at all\r\n\r\n').answer;
    held.resolve();

    const text = await answer;

    expect([...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status)).toEqual(['200', '200']);
    expect(text.indexOf('answer to /one')).toBeLessThan(text.indexOf('answer to /two'));
  });

  it('gets all answers to as many as load generators send ahead', async () => {
    await start();
    const paths = Array.from({ length: 16 }, (_, index) => `/${index}.`);
    const requests = paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    const { answer } = talk(`${requests.join('')}GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);

    const answered = [...(await answer).matchAll(/answer to (\/\S+?)(?=HTTP|$)/g)].map(([, path]) => path);

    expect(answered).toEqual([...paths, '/last']);
  });

  it('is closed if it sends far more before an answer, and costs no answer and one line of the log', async () => {
    const held = Promise.withResolvers<void>();
    const [handled, lines]: [string[], string[]] = [[], []];
    const log = { warn: (_fields: unknown, message: string) => void lines.push(message) };
    server = await startServer({ host: '127.0.0.1', port: 0, log: log as never }, () => (request, response) => {
      handled.push(request.url!);
      void held.promise.then(() => response.end('done'));
    });

    await talk('GET /flood HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(1_500)).answer;
    held.resolve();
    await talk('GET /other HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n').answer;

    expect(handled).toEqual(['/other']);
    expect(lines).toEqual(['connection closed: too many requests before an answer']);
  });

  it('has none of them handled after it is closed by the client', async () => {
    const held = Promise.withResolvers<void>();
    const [arrived, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const handled: string[] = [];
    server = await startServer({ host: '127.0.0.1', port: 0 }, () => (request, response) => {
      handled.push(request.url!);
      if (request.url === '/first') request.socket.once('close', gone.resolve);
      arrived.resolve();
      void held.promise.then(() => response.end('done'));
    });
    const { socket } = talk('GET /first HTTP/1.1\r\nHost: a\r\n\r\nGET /second HTTP/1.1\r\nHost: a\r\n\r\n');
    await arrived.promise;

    socket.destroy();
    await gone.promise;
    held.resolve();
    await talk('GET /other HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n').answer;

    expect(handled).toEqual(['/first', '/other']);
  });

  it('gets no WebSocket and no refused tunnel before the answer to an earlier one', async () => {
    const held = Promise.withResolvers<void>();
    await start({}, held.promise);
    let taken = 0;
    server!.onAgent((_request, socket) => {
      taken += 1;
      socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n');
    });
    const first = 'GET /first HTTP/1.1\r\nHost: a\r\n\r\n';
    const upgrade = 'Host: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n';
    const agent = talk(`${first}GET /agent HTTP/1.1\r\n${upgrade}Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n`);
    const tunnel = talk(`${first}CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n`);
    // When this is answered, the server has also read what the earlier connections sent.
    await talk('not HTTP at all\r\n\r\n').answer;
    held.resolve();

    const answers = await once(agent.socket, 'data').then(String);
    expect(answers).toMatch(/^HTTP\/1\.1 200 /);
    expect(await tunnel.answer).toMatch(/^HTTP\/1\.1 200 .*answer to \/first$/s);
    expect(taken).toBe(0);
  });

  it('gets one answer to one request whose end is in doubt, and is closed', async () => {
    await start();
    const { answer } = talk(
      'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n',
    );

    expect([...(await answer).matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status)).toEqual(['400']);
  });
});

describe('a request for what is no page', () => {
  it('for a tunnel is refused', async () => {
    await start();

    const text = await talk('CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n').answer;

    expect(text).toMatch(/^HTTP\/1\.1 405 /);
    expect(text).toContain('Allow: GET, HEAD, POST, PUT, DELETE, OPTIONS\r\n');
  });

  it('for the whole server gets the allowed methods', async () => {
    await start();

    const text = await talk('OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n').answer;

    expect(text).toMatch(/^HTTP\/1\.1 204 .*\r\nAllow: GET, HEAD, POST, PUT, DELETE, OPTIONS\r\n/);
  });

  it('that waits to be asked for a body which is too large is not asked for it', async () => {
    await start();
    const head = 'POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nConnection: close\r\n';

    const small = await talk(`${head}Content-Length: 2\r\n\r\n{}`).answer;
    const large = await talk(`${head}Content-Length: 99999\r\n\r\n`).answer;

    expect(small).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
    expect(large).not.toContain('100 Continue');
  });
});
