import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

import { afterEach, describe, expect, it } from '@jest/globals';

import { connectionBounds, isShortOfFiles } from './connection-bounds.ts';

describe('the bounds of connections', () => {
  it.each([
    [1_048_576, 10_000, 2_000],
    [10_256, 10_000, 2_000],
    [1_024, 768, 154],
    [256, 128, 26],
    [Number.POSITIVE_INFINITY, 10_000, 2_000],
  ])('with %s open files are %s, of one client %s', (openFiles, most, mostPerClient) => {
    expect(connectionBounds(openFiles)).toEqual({ most, mostPerClient });
  });

  it.each([
    [10_255, true],
    [10_256, false],
  ])('%s open files are too few: %s', (openFiles, isShort) => {
    expect(isShortOfFiles(openFiles)).toBe(isShort);
  });
});

describe('a server that may open few files', () => {
  const sockets: Socket[] = [];
  let stop = (): void => undefined;

  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    stop();
  });

  it('answers others while a client holds as many connections as it may', async () => {
    const script = `
      import { startServer } from ${JSON.stringify(new URL('server.ts', import.meta.url).href)};
      const { port } = await startServer({ host: '127.0.0.1', port: 0 }, () => (_request, response) => response.end('here'));
      process.stdout.write(String(port));
    `;
    const node = ['--conditions=vantage-source', '--no-warnings', '--input-type=module', '--eval', script];
    const child = spawn('sh', ['-c', 'ulimit -n 400; exec "$@"', '-', process.execPath, ...node], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    stop = () => child.kill('SIGKILL');
    const [text] = (await once(child.stdout, 'data')) as [Buffer];
    const port = Number(text.toString());
    for (let index = 0; index < 500; index += 1) {
      sockets.push(connect({ port, host: '127.0.0.1', localAddress: '127.0.0.1' }).on('error', () => undefined));
    }
    await Promise.all(sockets.map((socket) => once(socket, 'connect').catch(() => undefined)));

    const other = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.9' });
    sockets.push(other);
    other.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');

    expect(String((await once(other, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /);
  });
});
