import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { freePort } from '@vantage/redis-server';

import { packagesMissing, unpackPackages, type UnpackedPackages } from '@vantage/test-support/debian-packages';
import { itNeeding } from '@vantage/test-support/needs';

const noNginx = await packagesMissing(['nginx', 'libnginx-mod-stream']);
const itWithNginx = itNeeding(noNginx, process.env['CI']);

/** Connections per client; the shipped number would need thousands of sockets here. */
const LIMIT = 20;
/** Connections of nginx, as many as five clients open below. */
const CONNECTIONS = 500;

let nginx: ChildProcess | undefined;
let backend: Server | undefined;
let port = 0;
const folder = mkdtempSync(join(tmpdir(), 'vantage-nginx-'));
const sockets: Socket[] = [];

beforeAll(async () => {
  if (noNginx !== null) return;
  backend = createServer((request, response) => response.end(String(request.headers['x-forwarded-for'])));
  backend.on('upgrade', ({ url, headers }, socket) => {
    const seen = `${url} ${headers.upgrade} ${String(headers['x-forwarded-for'])}`;
    socket.on('error', () => undefined);
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSeen: ${seen}\r\n\r\n`,
    );
  });
  backend.listen(0, '127.0.0.1');
  await once(backend, 'listening');
  const packages = await unpackPackages('nginx', 'libnginx-mod-stream');
  const { port: coordinator } = backend.address() as AddressInfo;
  while (!(await answers(packages, coordinator))) {
    const log = readFileSync(join(folder, 'error.log'), 'utf8');
    // Another process took one of its ports; any other exit is a fault of the file.
    if (!log.includes('Address already in use')) throw new Error(`nginx ended:\n${log}`);
    rmSync(join(folder, 'error.log'));
  }
});

/** Starts nginx; false if it ended. */
async function answers(packages: UnpackedPackages, coordinator: number): Promise<boolean> {
  port = await freePort();
  writeFileSync(join(folder, 'nginx.conf'), shipped(packages.folder, await freePort(), coordinator));
  nginx = spawn(packages.program('nginx'), ['-p', folder, '-c', 'nginx.conf', '-e', 'error.log'], {
    env: packages.environment,
    stdio: 'ignore',
  });
  for (;;) {
    if (nginx.exitCode !== null) return false;
    if ((await get('127.0.0.99').catch(() => undefined)) !== undefined) return true;
    await sleep(50);
  }
}

afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  if (nginx !== undefined && nginx.exitCode === null) {
    const ended = once(nginx, 'exit');
    nginx.kill('SIGKILL');
    await ended;
  }
  backend?.closeAllConnections();
  backend?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The shipped file with other ports, folders and numbers. */
function shipped(packages: string, inner: number, coordinator: number): string {
  const text = readFileSync(join(import.meta.dirname, 'nginx.conf'), 'utf8');
  const changes: readonly (readonly [string, string])[] = [
    // First, because the folders of the next replacements may be below it.
    ['/tmp/', `${folder}/`],
    [
      'include /etc/nginx/modules-enabled/*.conf;',
      `daemon off; master_process off; load_module ${packages}/usr/lib/nginx/modules/ngx_stream_module.so;`,
    ],
    // The incomplete requests stay open for the duration of the test.
    ['client_header_timeout 10s', 'client_header_timeout 300s'],
    ['rate=100r/s', 'rate=1r/s'],
    ['burst=400', 'burst=5'],
    ['/dev/stderr', join(folder, 'error.log')],
    ['worker_connections 16384', `worker_connections ${CONNECTIONS}`],
    ['limit_conn connections 256', `limit_conn connections ${LIMIT}`],
    ['listen 8080', `listen 127.0.0.1:${port}`],
    ['127.0.0.1:8081', `127.0.0.1:${inner}`],
    ['coordinator-1:8080', `127.0.0.1:${coordinator}`],
    ['coordinator-2:8080', `127.0.0.1:${coordinator}`],
  ];
  return changes.reduce((configuration, [from, to]) => {
    if (!configuration.includes(from)) throw new Error(`nginx.conf has no ${from}`);
    return configuration.replaceAll(from, to);
  }, text);
}

async function get(localAddress: string): Promise<{ readonly status: number | undefined; readonly body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number | undefined; body: string }>();
  request({ host: '127.0.0.1', port, localAddress, agent: false }, (response) => {
    let body = '';
    response.on('data', (chunk: Buffer) => (body += chunk.toString()));
    response.on('end', () => resolve({ status: response.statusCode, body }));
  })
    .on('error', reject)
    .end();
  return promise;
}

/** Opens connections of one client that never complete their request; resolves with the number that nginx refuses. */
async function openHalfHeads(localAddress: string, count: number): Promise<number> {
  let closed = 0;
  const settled = Array.from({ length: count }, async () => {
    const socket = connect({ host: '127.0.0.1', port, localAddress });
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => (closed += 1));
    await once(socket, 'connect');
    socket.write('GET / HTTP/1.1\r\nHost: a\r\nX-');
  });
  await Promise.all(settled);
  while (closed < count - LIMIT) await sleep(20);
  return closed;
}

describe('the shipped nginx', () => {
  itWithNginx('passes on the address of its client, and no other that the client claims', async () => {
    expect(await get('127.0.0.2')).toEqual({ status: 200, body: '127.0.0.2' });
  });

  itWithNginx('passes the WebSocket of an agent on, with its address', async () => {
    const headers = { Connection: 'Upgrade', Upgrade: 'websocket' };
    const asking = request({ host: '127.0.0.1', port, path: '/net/agent', localAddress: '127.0.0.6', headers }).end();
    const [response, socket] = (await once(asking, 'upgrade')) as [IncomingMessage, Socket];
    sockets.push(socket);

    expect(response.headers['seen']).toBe('/net/agent websocket 127.0.0.6');
  });

  itWithNginx('serves others while a few clients hold as many half requests as it lets them', async () => {
    const attackers = ['127.0.0.11', '127.0.0.12', '127.0.0.13', '127.0.0.14', '127.0.0.15'];
    for (const address of attackers) expect(await openHalfHeads(address, 100)).toBe(100 - LIMIT);

    expect(await get('127.0.0.3')).toEqual({ status: 200, body: '127.0.0.3' });
    await expect(get('127.0.0.11')).rejects.toThrow();
  });

  itWithNginx('refuses the requests of a client that floods it, and of no other', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const statuses = [];
        for (let sent = 0; sent < 5; sent += 1) statuses.push((await get('127.0.0.4')).status);
        return statuses;
      }),
    );

    expect(new Set(answers.flat())).toEqual(new Set([200, 429]));
    expect((await get('127.0.0.5')).status).toBe(200);
  });

  itWithNginx('refuses with a problem document, which says when to ask again', async () => {
    const url = `http://127.0.0.1:${port}/check`;
    const large = await fetch(url, { method: 'POST', body: 'x'.repeat(70_000) });
    let many = large;
    while (many.status !== 429) many = await fetch(url, { method: 'POST', body: '{}' });

    for (const [answer, status] of [
      [large, 413],
      [many, 429],
    ] as const) {
      expect(answer.headers.get('content-type')).toBe('application/problem+json');
      expect(await answer.json()).toMatchObject({ type: 'about:blank', status, detail: expect.any(String) });
    }
    expect(many.headers.get('retry-after')).toBe('1');
  });
});
