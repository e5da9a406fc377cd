import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';

import { until } from '@vantage/test-support/until';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { agentRights } from '@vantage/contract';
import { findRedisServer, freePort } from '@vantage/redis-server';
import { Redis } from 'ioredis';

import { ensureTls } from '../../apps/coordinator/src/admin/tls/tls-folder.ts';

const password = 'a-password-of-the-test-that-is-long';
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

let folder: string;
let server: ChildProcess | undefined;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vantage-redis-conf-'));
  mkdirSync(join(folder, 'bin'));
  // Debian's redis-tools has the server under another name.
  symlinkSync(findRedisServer(process.env['PATH'] ?? '')!, join(folder, 'bin', 'redis-server'));
  await ensureTls(join(folder, 'tls'), { hosts: ['127.0.0.1'] });
});

afterEach(async () => {
  await stop();
  rmSync(folder, { recursive: true });
});

async function stop(): Promise<void> {
  if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
  server.kill('SIGTERM');
  await once(server, 'exit');
}

/** Starts Redis with the shipped files; only paths, port and address are changed. */
async function start(env: Readonly<Record<string, string>> = {}): Promise<number> {
  for (;;) {
    const port = await freePort();
    const settings = readFileSync(here('redis.conf'), 'utf8')
      .replaceAll('/tls/', `${folder}/tls/`)
      .replaceAll('/data', folder)
      .replace('tls-port 6380', `tls-port ${port}`)
      .replace('bind * -::*', 'bind 127.0.0.1');
    writeFileSync(join(folder, 'redis.conf'), settings);
    const child = spawn(here('start.sh'), [join(folder, 'redis.conf')], {
      env: {
        PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
        REDIS_ACL_FILE: join(folder, 'users.acl'),
        COORDINATOR_REDIS_PASSWORD: password,
        ...env,
      },
      stdio: 'ignore',
    });
    server = child;
    let isUp = false;
    await until(async () => {
      if (child.exitCode !== null) return true;
      isUp = await answers(port);
      return isUp;
    });
    if (isUp) return port;
    if (env['COORDINATOR_REDIS_PASSWORD'] !== undefined) throw new Error(`start.sh ended with ${child.exitCode}`);
    // Another program took the port first.
  }
}

async function answers(port: number): Promise<boolean> {
  const redis = connect(port, 'coordinator', password);
  const answer = await redis.ping().catch(() => undefined);
  redis.disconnect();
  return answer === 'PONG';
}

function connect(port: number, username?: string, secret?: string): Redis {
  const login = username === undefined ? {} : { username, password: secret! };
  const tls = { ca: readFileSync(join(folder, 'tls', 'ca', 'ca.crt'), 'utf8') };
  const redis = new Redis({ host: '127.0.0.1', port, tls, ...login, enableReadyCheck: false, retryStrategy: null });
  redis.on('error', () => undefined);
  return redis;
}

async function connectRaw(port: number): Promise<TLSSocket> {
  const socket = connectTls({ host: '127.0.0.1', port, ca: readFileSync(join(folder, 'tls', 'ca', 'ca.crt'), 'utf8') });
  await once(socket, 'secureConnect');
  return socket;
}

describe('the settings of Redis for agents elsewhere', () => {
  it('let the coordinator in over TLS, and refuse clients without a login', async () => {
    const port = await start();
    const coordinator = connect(port, 'coordinator', password);
    const anonymous = connect(port);

    await expect(anonymous.get('x')).rejects.toThrow();
    expect(await coordinator.config('GET', 'maxmemory-policy')).toContain('noeviction');
    expect(await coordinator.config('GET', 'appendonly')).toContain('yes');
    expect(readFileSync(join(folder, 'users.acl'), 'utf8')).not.toContain(password);
    for (const redis of [coordinator, anonymous]) redis.disconnect();
  });

  it('keep the users of agents over a restart, and what scripts wrote', async () => {
    const first = connect(await start(), 'coordinator', password);
    const writes = "redis.call('SET', KEYS[1], 'kept') redis.call('SET', KEYS[2], 'kept')";
    await first.config('SET', 'appendfsync', 'always');
    await first.eval(writes, 2, 'p:{x}:hb', 'p:{x}:n');
    await first.call('ACL', 'SETUSER', 'probe-x', 'on', '>secret', '~p:{x}:hb', '+get');
    await first.call('ACL', 'SAVE');
    first.disconnect();
    await stop();

    const user = connect(await start(), 'probe-x', 'secret');

    expect(await user.get('p:{x}:hb')).toBe('kept');
    user.disconnect();
  });

  it('end the connection of a client that leaves its replies unread, before writes are refused', async () => {
    const port = await start();
    const coordinator = connect(port, 'coordinator', password);
    await coordinator.call('ACL', 'SETUSER', 'probe-x', 'on', '>secret', ...agentRights('x'));
    await coordinator.hset('p:{x}:jobs:id', 'data', 'x'.repeat(10_000));
    const thief = await connectRaw(port);
    const ended = new Promise<unknown>((resolve) => thief.once('close', resolve));
    thief.on('error', () => undefined);

    // Each request of 23 bytes asks for the whole hash.
    thief.write('AUTH probe-x secret\r\n');
    const request = 'HGETALL p:{x}:jobs:id\r\n'.repeat(100);
    for (let sent = 0; sent < 2_000; sent += 1) thief.write(request);
    thief.pause();
    let refused = 0;
    const write = (): Promise<unknown> => coordinator.set('mine', 'x').catch(() => (refused += 1));
    const writing = setInterval(() => void write(), 20);
    // The client notices the end of its connection only when it reads on.
    await until(async () => !String(await coordinator.client('LIST')).includes('user=probe-x'));
    clearInterval(writing);
    thief.resume();
    await ended;

    expect(refused).toBe(0);
    coordinator.disconnect();
  });

  it('are not used with a password that is too short', async () => {
    await expect(start({ COORDINATOR_REDIS_PASSWORD: 'short' })).rejects.toThrow('start.sh ended with 1');
  });
});
