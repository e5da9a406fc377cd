import { once, type EventEmitter } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';

import { afterEach, expect, it } from '@jest/globals';

import { createDial } from './dial.ts';

const closers: (() => void)[] = [];

afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** Answers the first bytes of each connection with this text, and nothing after them. */
async function startProxy(answer: string): Promise<{ readonly url: string; readonly connection: Promise<Socket> }> {
  const connection = Promise.withResolvers<Socket>();
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write(answer);
      socket.resume();
    });
    closers.push(() => socket.destroy());
    connection.resolve(socket);
  }).listen(0, '127.0.0.1');
  closers.push(() => server.close());
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, connection: connection.promise };
}

/** Resolves when the stream is closed; unlike `once` also after an error. */
function closeOf(stream: Pick<EventEmitter, 'once'>): Promise<void> {
  return new Promise((resolve) => void stream.once('close', () => resolve()));
}

/** The error of a connection through a proxy with this answer, once both connections are closed. */
async function errorThrough(answer: string): Promise<string> {
  const proxy = await startProxy(answer);
  const socket = createDial({ url: 'https://vantage.example.com', proxy: { url: proxy.url } })();
  const closed = [closeOf(socket), closeOf(await proxy.connection)];
  const [error] = (await once(socket, 'error')) as [Error];
  await Promise.all(closed);
  return error.message;
}

it.each(['/vantage', '/vantage/'])(
  'the path of the address, here %s, stays before that of the gateway',
  async (path) => {
    const server = createHttpServer().listen(0, '127.0.0.1');
    closers.push(() => server.close());
    await once(server, 'listening');
    const requested = once(server, 'upgrade') as Promise<[IncomingMessage, Socket]>;
    const socket = createDial({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}` })();
    socket.on('error', () => undefined);
    const [{ url }, connection] = await requested;
    connection.destroy();

    expect(url).toBe('/vantage/agent');
  },
);

it('a proxy that is silent, is none or does not reach the service is named, and its connection is closed', async () => {
  const answers = ['', 'nonsense\r\n', 'HTTP/1.1 200 OK\r\n\r\n'];
  const errors = await Promise.all(answers.map(errorThrough));

  expect(new Set(errors)).toEqual(
    new Set(['no TLS connection to the service through the proxy (HTTPS_PROXY) within 9 s']),
  );
}, 20_000);

it('a connection through a proxy that is given up is closed', async () => {
  const proxy = await startProxy('HTTP/1.1 200 OK\r\n\r\n');
  const socket = createDial({ url: 'https://vantage.example.com', proxy: { url: proxy.url } })();
  socket.on('error', () => undefined);
  const connection = await proxy.connection;
  const closed = closeOf(connection);
  await once(connection, 'data');
  socket.terminate();
  await closed;

  expect(connection.destroyed).toBe(true);
}, 20_000);

it('a proxy that is not there is named with its setting', async () => {
  const proxy = createServer().listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  proxy.close();
  await once(proxy, 'close');
  const socket = createDial({ url: 'https://vantage.example.com', proxy: { url: `http://127.0.0.1:${port}` } })();
  const [error] = (await once(socket, 'error')) as [Error];

  expect(error.message).toBe(`no connection to the proxy (HTTPS_PROXY): connect ECONNREFUSED 127.0.0.1:${port}`);
});

it('a service that NO_PROXY has in a network is dialled without the proxy', async () => {
  const service = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  closers.push(() => service.close());
  await once(service, 'listening');
  const connected = once(service, 'connection');
  const url = `https://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const socket = createDial({ url, proxy: { url: 'http://192.0.2.1:9', except: 'localhost,127.0.0.0/8' } })();
  const [error] = (await once(socket, 'error')) as [Error];
  await connected;

  expect(error.message).not.toContain('proxy');
});
