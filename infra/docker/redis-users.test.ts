import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { findRedisServer } from '@vantage/redis-server';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';

/** The line of the default user as the first start writes it. */
const [, defaultUser = ''] =
  /'(user default [^']+)'/.exec(readFileSync(new URL('first-start.mjs', import.meta.url), 'utf8')) ?? [];

describe('a Redis whose default user is off', () => {
  let folder: string;
  let stops: (() => Promise<void>)[];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'vantage-users-'));
    stops = [];
  });
  afterEach(async () => {
    for (const stop of stops) await stop();
    rmSync(folder, { recursive: true });
  });

  it('keeps over a restart what scripts wrote, and refuses clients without a login', async () => {
    writeFileSync(join(folder, 'users.acl'), `${defaultUser}\nuser coordinator on >secret ~* &* +@all\n`);
    const first = await start(folder);
    stops.push(first.stop);
    await first.redis.eval("redis.call('SET', 'a', '1') redis.call('SET', 'b', '2')", 0);
    await first.stop();

    const second = await start(folder);
    stops.push(second.stop);
    expect(await second.redis.mget('a', 'b')).toEqual(['1', '2']);
    expect(await askWithoutLogin(folder, 'GET a')).toContain('-NOAUTH');
  });
});

it('gives Redis its certificate at each `up`, which may have renewed it, from the files of its start', () => {
  const [, settings = ''] =
    /'(tls-cert-file [^']+)'/.exec(readFileSync(new URL('first-start.mjs', import.meta.url), 'utf8')) ?? [];
  const compose = readFileSync(new URL('../../docker-compose.yml', import.meta.url), 'utf8');

  expect(settings.split(' ')).toHaveLength(6);
  expect(compose.replaceAll(/\s+/g, ' ')).toContain(settings.replaceAll(/\btls-/g, '--tls-'));
});

/** The first bytes of the reply to a command from an unauthenticated client. */
async function askWithoutLogin(folder: string, command: string): Promise<string> {
  const socket = connect(join(folder, 'socket'));
  socket.write(`${command}\r\n`);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return answer.toString();
}

async function start(folder: string): Promise<{ readonly redis: Redis; readonly stop: () => Promise<void> }> {
  const server = spawn(
    findRedisServer(process.env['PATH'] ?? '') ?? 'redis-server',
    [
      '--port',
      '0',
      '--unixsocket',
      join(folder, 'socket'),
      '--dir',
      folder,
      '--aclfile',
      join(folder, 'users.acl'),
      '--appendonly',
      'yes',
      '--save',
      '',
    ],
    { argv0: 'redis-server', stdio: 'ignore' },
  );
  const ended = once(server, 'exit');
  const redis = new Redis(join(folder, 'socket'), {
    username: 'coordinator',
    password: 'secret',
    retryStrategy: () => 50,
    maxRetriesPerRequest: null,
  });
  redis.on('error', () => undefined);
  while ((await Promise.race([redis.ping(), sleep(1_000, undefined, { ref: false })])) !== 'PONG') {
    if (server.exitCode !== null) throw new Error(`Redis ended with status ${server.exitCode}.`);
  }
  return {
    redis,
    stop: async () => {
      await redis.quit().catch(() => undefined);
      server.kill('SIGTERM');
      await ended;
    },
  };
}
