import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findRedisServer, startRedisCluster, startRedisServer, type RedisCluster } from '@vantage/redis-server';
import type { Redis } from 'ioredis';

import type { ConnectionLog } from './log-outages.ts';
import { slotOf } from './slot.ts';
import { masterOf, mastersOf } from './cluster.ts';
import { openFailFast, openOnce, openPatient, openSubscriber } from './open.ts';

const executable = findRedisServer(process.env['PATH'] ?? '')!;
const silent: ConnectionLog = { info: () => undefined, warn: () => undefined };

describe('connections to one server', () => {
  it.concurrent('reach it over TLS with a login, trusting the certificates that are given', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'vantage-tls-'));
    const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    execFileSync('openssl', [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '2',
      '-subj',
      '/CN=localhost',
      '-addext',
      'subjectAltName=DNS:localhost',
      '-keyout',
      key,
      '-out',
      certificate,
    ]);
    const server = await startRedisServer({ executable });
    const plain = await openOnce({ url: server.url, name: 'test' });
    await plain.call('CONFIG', 'SET', 'tls-cert-file', certificate, 'tls-key-file', key, 'tls-auth-clients', 'no');
    await plain.call('ACL', 'SETUSER', 'vantage', 'on', '>s@cret', '~*', '&*', '+@all');
    const tlsPort = await freePortFor(plain);

    const url = `rediss://vantage:s%40cret@localhost:${tlsPort}`;
    const certificates = readFileSync(certificate, 'utf8');
    const trusted = await openOnce({ url, name: 'test', certificates });
    const whoAmI = await trusted.call('ACL', 'WHOAMI');

    expect(whoAmI).toBe('vantage');
    const untrusted = ['rediss', 'rediss+cluster'].map((kind) =>
      expect(openOnce({ url: url.replace('rediss', kind), name: 'test' })).rejects.toThrow(
        /issued by a CA that is not trusted; set REDIS_CA_FILE/,
      ),
    );
    const sentinels = url.replace(/rediss(.*)/, 'rediss+sentinel$1/main');
    const untrustedSentinel = expect(openOnce({ url: sentinels, name: 'test' })).rejects.toThrow(
      /^no Sentinel can be asked: .* issued by a CA that is not trusted; set REDIS_CA_FILE/,
    );
    const byAddress = openOnce({ url: sentinels.replace('localhost', '127.0.0.1'), name: 'test', certificates });
    const unreachable = openOnce({ url: 'redis+sentinel://127.0.0.1:9/main', name: 'test' });
    await Promise.all([
      ...untrusted,
      untrustedSentinel,
      expect(byAddress).rejects.toThrow(/^no Sentinel can be asked: .*does not match certificate's altnames/),
      expect(unreachable).rejects.toThrow('no Sentinel can be asked: connect ECONNREFUSED 127.0.0.1:9'),
    ]);
    for (const one of [plain, trusted]) one.disconnect();
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  it.concurrent('use no other database than theirs, also where Redis refuses that', async () => {
    const server = await startRedisServer({ executable });
    const causes: unknown[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const warn: ConnectionLog['warn'] = (fields) => {
      causes.push((fields as { cause: unknown }).cause);
      resolve();
    };
    const log: ConnectionLog = { info: () => causes.push('connected'), warn };
    const refused = openFailFast({ url: `${server.url}/99`, name: 'test', log });
    await promise;
    // A second attempt has been refused, too.
    await new Promise((next) => void refused.once('error', next));

    expect(causes).toEqual(['ERR DB index is out of range']);
    await expect(refused.set('key', 'value')).rejects.toThrow();
    await expect(openOnce({ url: `${server.url}/99`, name: 'test' })).rejects.toThrow('ERR DB index is out of range');
    const redis = await openOnce({ url: server.url, name: 'test' });
    expect(await redis.dbsize()).toBe(0);
    for (const one of [refused, redis]) one.disconnect();
    await server.stop();
  });

  it.concurrent('say once that Redis is lost and once that it is back, however long it is frozen', async () => {
    const server = await startRedisServer({ executable });
    const lines: string[] = [];
    const log: ConnectionLog = {
      info: (_fields, message) => void lines.push(message),
      warn: (_fields, message) => void lines.push(message),
    };
    const redis = openFailFast({ url: server.url, name: 'test', log });
    await untilReady(redis);

    let closes = 0;
    redis.on('close', () => (closes += 1));
    process.kill(server.pid, 'SIGSTOP');
    // A frozen server is only noticed by an unanswered command.
    while (closes < 3) {
      redis.ping().catch(() => undefined);
      await sleep(20);
    }
    process.kill(server.pid, 'SIGCONT');
    await untilReady(redis);

    expect(lines).toEqual(['Redis connected', 'Redis connection lost', 'Redis connected']);
    redis.disconnect();
    await server.stop();
  });

  it('outlast a machine that stands still while a reply is owed', async () => {
    const server = await startRedisServer({ executable });
    const redis = openFailFast({ url: server.url, name: 'test', log: silent });
    await untilReady(redis);
    let closes = 0;
    redis.on('close', () => (closes += 1));

    const reply = redis.ping();
    // After the command is sent, this process is blocked for longer than the timeouts of replies and connections.
    await new Promise(setImmediate);
    process.kill(server.pid, 'SIGSTOP');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_100);
    process.kill(server.pid, 'SIGCONT');

    expect(await reply).toBe('PONG');
    expect(closes).toBe(0);
    redis.disconnect();
    await server.stop();
  });

  it.each<[string, (url: string) => Redis]>([
    ['a coordinator', (url) => openFailFast({ url, name: 'test', log: silent })],
    ['an agent', (url) => openPatient({ url, name: 'test', log: silent, resend: false, keyInUse: '{a}' })],
  ])('leave a replica once a second, however often it refuses a write of %s', async (_, open) => {
    const server = await startRedisServer({ executable });
    const operator = await openOnce({ url: server.url, name: 'test' });
    await operator.replicaof('127.0.0.1', '1');
    const redis = open(server.url);
    await untilReady(redis);
    let closes = 0;
    redis.on('close', () => (closes += 1));

    const startedAt = performance.now();
    const refusals = new Set<string>();
    while (performance.now() - startedAt < 1_500) {
      await redis.set('key', 'value').catch(({ message }: Error) => void refusals.add(message.split(' ')[0] ?? ''));
      await sleep(5);
    }
    await operator.replicaof('NO', 'ONE');
    while ((await redis.set('key', 'value').catch(() => undefined)) !== 'OK') await sleep(5);
    const seconds = (performance.now() - startedAt) / 1_000;

    expect(closes).toBeGreaterThan(0);
    expect(closes).toBeLessThanOrEqual(1 + seconds);
    expect(refusals).toContain('READONLY');
    for (const one of [redis, operator]) one.disconnect();
    await server.stop();
  });

  it('fail at once for a program that does its work and ends', async () => {
    await expect(openOnce({ url: 'redis://127.0.0.1:1', name: 'test' })).rejects.toThrow('ECONNREFUSED');
  });
});

describe('connections to a cluster', () => {
  let cluster: RedisCluster;
  const opened: Redis[] = [];

  beforeAll(async () => {
    cluster = await startRedisCluster(executable);
  });
  afterAll(async () => {
    for (const redis of opened) redis.disconnect();
    await cluster?.stop();
  });

  function kept(redis: Redis): Redis {
    opened.push(redis);
    return redis;
  }

  it('reach the keys of every node, and know which holds which', async () => {
    const redis = kept(openFailFast({ url: cluster.url, name: 'test', log: silent }));
    await untilReady(redis);
    const keys = Array.from({ length: 30 }, (_, index) => `key-${index}`);

    await Promise.all(keys.map((key) => redis.set(key, key)));
    const values = await Promise.all(keys.map((key) => masterOf(redis, key)!.get(key)));

    expect(values).toEqual(keys);
    expect(mastersOf(redis)).toHaveLength(3);
    expect(new Set(keys.map((key) => masterOf(redis, key)!.options.port)).size).toBe(3);
  });

  it('go straight to the one node that holds the keys of a hash tag', async () => {
    const tags = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const ports = await Promise.all(
      tags.map(async (tag) => {
        const keyInUse = `{${tag}}:key`;
        const redis = kept(openPatient({ url: cluster.url, name: 'test', log: silent, resend: true, keyInUse }));
        await redis.set(keyInUse, tag);
        const read = await redis.get(keyInUse);
        return [read, redis.stream.remotePort] as const;
      }),
    );

    expect(ports.map(([value]) => value)).toEqual(tags);
    expect(new Set(ports.map(([, port]) => port)).size).toBeGreaterThan(1);
  });

  it('let their process end, even if closed while the client asks for the slots', async () => {
    const program = `
      import { setTimeout as sleep } from 'node:timers/promises';
      import { openFailFast } from '@vantage/redis-connections';
      const log = { info: () => undefined, warn: () => undefined };
      const redis = openFailFast({ url: ${JSON.stringify(cluster.url)}, name: 'test', log });
      await new Promise((resolve) => redis.once('ready', resolve));
      process.stdout.write('ready');
      while (!redis.isRefreshing) await sleep(5);
      await sleep(20);
      redis.disconnect();
      process.stdout.write(' closed');`;
    const words = ['--conditions=vantage-source', '--input-type=module', '--eval', program];
    const child = execFile(process.execPath, words, { cwd: import.meta.dirname });
    const exited = once(child, 'exit');
    let printed = '';
    child.stderr!.on('data', (text) => (printed += String(text)));
    try {
      for await (const text of child.stdout!) {
        printed += String(text);
        // While the nodes are frozen, the request for the slots is not answered.
        if (printed === 'ready') for (const { pid } of cluster.nodes) process.kill(pid, 'SIGSTOP');
        if (printed === 'ready closed') break;
      }
      for (const { pid } of cluster.nodes) process.kill(pid, 'SIGCONT');
      const ended = await Promise.race([exited, sleep(30_000)]);

      expect([printed, ended]).toEqual(['ready closed', [0, null]]);
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('ask again where no node has told who holds the keys', async () => {
    const { port } = cluster.nodes[0]!;
    let asked = 0;
    // The first query is not answered, as by a stalled node.
    const line = createServer((client) => {
      client.on('error', () => undefined);
      asked += 1;
      if (asked === 1) {
        client.resume();
        return;
      }
      const upstream = connect(port, '127.0.0.1');
      upstream.on('error', () => undefined);
      client.pipe(upstream).pipe(client);
    }).listen(0, '127.0.0.1');
    await once(line, 'listening');
    const url = `redis+cluster://127.0.0.1:${(line.address() as AddressInfo).port}`;
    // The first node holds a third of the slots, from 0 on.
    const keyInUse = ['{a}', '{b}', '{c}', '{d}'].find((key) => slotOf(key) > 6_000)!;

    const redis = kept(openPatient({ url, name: 'test', log: silent, resend: true, keyInUse }));
    await redis.set(keyInUse, 'there');

    expect(await redis.get(keyInUse)).toBe('there');
    expect(asked).toBeGreaterThan(1);
    line.close();
  });

  it('hear on any node what is published on another', async () => {
    const subscribers = cluster.nodes.map(({ port }) =>
      kept(openSubscriber({ url: `redis+cluster://127.0.0.1:${port}`, name: 'test', log: silent })),
    );
    const heard = subscribers.map(async (redis) => {
      await untilReady(redis);
      await redis.psubscribe('news:*');
      return new Promise<string>((resolve) =>
        redis.once('pmessage', (_pattern, _channel, text: string) => resolve(text)),
      );
    });
    const publisher = kept(openFailFast({ url: cluster.url, name: 'test', log: silent }));
    await untilReady(publisher);
    const said = setInterval(() => void publisher.publish('news:1', 'hello').catch(() => undefined), 50);

    expect(await Promise.all(heard)).toEqual(['hello', 'hello', 'hello']);
    clearInterval(said);
  });
});

/** Enables TLS on a random port below the ephemeral ones; tries others while Redis cannot bind it. */
async function freePortFor(redis: Redis): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const set = await redis.call('CONFIG', 'SET', 'tls-port', String(port)).catch(() => undefined);
    if (set === 'OK') return port;
  }
}

async function untilReady(redis: Redis): Promise<void> {
  while (redis.status !== 'ready') await sleep(10);
}
