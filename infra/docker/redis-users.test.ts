import { execFile, spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { promisify } from 'node:util';

import { findRedisServer, freePort } from '@vantage/redis-server';
import { certificateMint } from '@vantage/test-support/certificate-mint';
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

/** The settings that `first-start.mjs probes` makes at each `up`. */
const [, tlsSettings = ''] =
  /'(tls-cert-file [^']+)'/.exec(readFileSync(new URL('first-start.mjs', import.meta.url), 'utf8')) ?? [];

describe('a Redis whose certificate was renewed', () => {
  it('has the files of the settings since its start', () => {
    const compose = readFileSync(new URL('../../docker-compose.yml', import.meta.url), 'utf8');

    expect(tlsSettings.split(' ')).toHaveLength(6);
    expect(compose.replaceAll(/\s+/g, ' ')).toContain(tlsSettings.replaceAll(/\btls-/g, '--tls-'));
  });

  it('presents the new one after the settings of `up`, which are the same, and keeps its connections', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'vantage-certificate-'));
    const mint = certificateMint();
    const authority = mint.issue({ subject: '/CN=CA', ca: true });
    const renew = (): string => {
      const issued = mint.issue({ subject: '/CN=redis', names: ['IP:127.0.0.1'], issuer: authority });
      writeFileSync(join(folder, 'redis.crt'), issued.cert);
      writeFileSync(join(folder, 'redis.key'), issued.key);
      return fingerprintOf(issued.cert);
    };
    writeFileSync(join(folder, 'ca.crt'), authority.cert);
    writeFileSync(join(folder, 'users.acl'), 'user default off\nuser coordinator on >secret ~* &* +@all\n');
    const settings = tlsSettings.replaceAll('/setup/redis', folder).split(' ');
    const first = renew();
    const port = await freePort();
    const flags = settings.map((word) => word.replace(/^tls-/, '--tls-'));
    const { redis, stop } = await start(folder, ['--tls-port', String(port), '--tls-auth-clients', 'no', ...flags]);
    try {
      const before = await shownBy(port);
      const connected = connectTls({ port, host: '127.0.0.1', ca: authority.cert });
      await once(connected, 'secureConnect');
      const second = renew();
      const unread = await shownBy(port);
      await redis.call('CONFIG', 'SET', ...settings);

      expect([before, unread, await shownBy(port)]).toEqual([first, first, second]);
      expect(await ask(connected, 'PING')).toContain('-NOAUTH');
    } finally {
      await stop();
      mint.close();
      rmSync(folder, { recursive: true });
    }
  });
});

function fingerprintOf(certificate: string): string {
  return new X509Certificate(certificate).fingerprint256;
}

/** Fingerprint of the certificate that `openssl s_client` is shown. */
async function shownBy(port: number): Promise<string> {
  const { stdout } = await promisify(execFile)('sh', ['-c', `openssl s_client -connect 127.0.0.1:${port} </dev/null`]);
  const [certificate = ''] = /-----BEGIN CERTIFICATE-----[^]+?-----END CERTIFICATE-----/.exec(stdout) ?? [];
  return fingerprintOf(certificate);
}

/** The first bytes of the reply to a command from an unauthenticated client. */
async function askWithoutLogin(folder: string, command: string): Promise<string> {
  return ask(connect(join(folder, 'socket')), command);
}

/** Closes the socket after the first bytes of the reply. */
async function ask(socket: Socket, command: string): Promise<string> {
  socket.write(`${command}\r\n`);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return answer.toString();
}

async function start(
  folder: string,
  more: readonly string[] = [],
): Promise<{ readonly redis: Redis; readonly stop: () => Promise<void> }> {
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
      ...more,
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
