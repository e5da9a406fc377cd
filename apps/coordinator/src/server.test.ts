import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';

import { afterEach, describe, expect, it } from '@jest/globals';

import { startServer, type RunningServer } from './server.ts';

interface Opened {
  readonly socket: Socket;
  /** Resolves with false when the connection is closed. */
  readonly ended: Promise<boolean>;
}

let server: RunningServer | undefined;

afterEach(async () => {
  await server?.close(0);
  server = undefined;
});

/** Opens a connection that sends a request of that method and path. */
function askRaw(port: number, method: string, path: string): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  return socket.resume().end(`${method} ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`);
}

/** Connections that the kernel holds for a listening port, not yet accepted. */
function heldConnections(port: number): number {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = readFileSync('/proc/self/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  const row = rows.find(([, address, , state]) => address?.endsWith(local) === true && state === '0A');
  return Number.parseInt(row?.[4]?.split(':')[1] ?? '', 16);
}

describe('the server', () => {
  it('finishes the answers under way when it stops, and takes no more', async () => {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    server = await startServer({ host: '127.0.0.1', port: 0 }, () => (_request, response) => {
      asked.resolve();
      void answer.promise.then(() => response.end('done'));
    });
    const url = `http://127.0.0.1:${server.port}/`;

    const held = fetch(url);
    await asked.promise;
    const closed = server.close(10_000);
    await expect(fetch(url)).rejects.toThrow('fetch failed');
    answer.resolve();

    const { headers } = await held;
    expect(headers.get('connection')).toBe('close');
    expect(await (await held).text()).toBe('done');
    await closed;
  });

  it('begins requests only when it has accepted the connections that the kernel holds', async () => {
    const begun: string[] = [];
    const isHealthy = Promise.withResolvers<void>();
    server = await startServer({ host: '127.0.0.1', port: 0 }, () => ({ url = '' }, response) => {
      begun.push(url);
      if (url === '/healthz') isHealthy.resolve();
      response.end();
    });
    const { port } = server;
    // All connect in this turn of the event loop, the health check last.
    const sockets = Array.from({ length: 100 }, () => askRaw(port, 'POST', '/check'));
    sockets.push(askRaw(port, 'GET', '/healthz'));
    await isHealthy.promise;

    expect(begun.length).toBeLessThan(20);
    for (const socket of sockets) socket.destroy();
  });

  it('waits for no connection on which nothing was sent', async () => {
    server = await startServer({ host: '127.0.0.1', port: 0 }, () => (_request, response) => void response.end());
    const socket = connect(server.port, '127.0.0.1');
    await once(socket, 'connect');
    // Connections are accepted in turn, so the one before has been, too.
    await fetch(`http://127.0.0.1:${server.port}/`);
    const closed = once(socket, 'close');

    await server.close(2_147_483_647);

    await closed;
  });

  it('closes what does not end in time', async () => {
    server = await startServer({ host: '127.0.0.1', port: 0 }, () => () => undefined);
    const socket = connect(server.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const closed = once(socket, 'close');

    await server.close(50);

    await closed;
  });

  it.each([
    ['127.0.0.1', undefined, /^http:\/\/127\.0\.0\.1:\d+$/],
    ['0.0.0.0', undefined, /^http:\/\/localhost:\d+$/],
    ['127.0.0.1', 'https://vantage.example/net', /^https:\/\/vantage\.example\/net$/],
  ])('listening on %s with the public address %s calls itself %s', async (host, publicUrl, expected) => {
    let told = '';
    server = await startServer({ host, port: 0, publicUrl }, (known) => {
      told = known;
      return () => undefined;
    });

    expect(server.publicUrl).toMatch(expected);
    expect(told).toBe(server.publicUrl);
  });

  it('bounds the connections of one client, and counts those that have ended no more', async () => {
    server = await startServer(
      { host: '127.0.0.1', port: 0, maxConnectionsPerClient: 2 },
      () => (_request, response) => {
        response.end('done');
      },
    );
    const { port } = server;
    const open = async (): Promise<Opened> => {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      const ended = once(socket, 'close').then(() => false);
      await once(socket, 'connect');
      return { socket, ended };
    };
    const answers = async ({ socket, ended }: Opened): Promise<boolean> => {
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      return Promise.race([
        once(socket, 'data').then(
          () => true,
          () => ended,
        ),
        ended,
      ]);
    };

    const sockets = [await open(), await open(), await open()];
    const answered = [];
    for (const socket of sockets) answered.push(await answers(socket));
    sockets[0]!.socket.destroy();
    await answers(sockets[1]!);

    expect(answered).toEqual([true, true, false]);
    expect(await answers(await open())).toBe(true);
    for (const { socket } of sockets) socket.destroy();
  });

  it('loses no connection of a burst before it accepts them', async () => {
    server = await startServer({ host: '127.0.0.1', port: 0 }, () => () => undefined);
    const { port } = server;
    const somaxconn = Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'));
    const sockets = Array.from({ length: 600 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
    // They connect in callbacks of `nextTick`, and none is accepted in this turn of the event loop.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    const held = heldConnections(port);
    for (const socket of sockets) socket.destroy();

    expect(held).toBeGreaterThanOrEqual(Math.min(600, somaxconn));
  });

  it('rejects when the port is taken', async () => {
    server = await startServer({ host: '127.0.0.1', port: 0 }, () => () => undefined);

    await expect(startServer({ host: '127.0.0.1', port: server.port }, () => () => undefined)).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
  });
});
