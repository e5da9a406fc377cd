import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  findRedisServer,
  startRedisCluster,
  startRedisSentinel,
  startRedisServer,
  type RedisSentinel,
} from '@vantage/redis-server';
import { Redis } from 'ioredis';

import { openFailFast } from '../open.ts';
import { askSentinels, serverOf, type Mastership } from './sentinels.ts';

const executable = findRedisServer(process.env['PATH'] ?? '')!;
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
let set: RedisSentinel;

beforeAll(async () => {
  set = await startRedisSentinel(executable);
});

afterAll(() => set.stop());

async function open(url: string): Promise<Redis> {
  const connection = openFailFast({ url, name: 'trial', log });
  await new Promise((resolve) => connection.once('ready', resolve));
  return connection;
}

async function mastership(connection: Redis): Promise<Mastership> {
  return (await askSentinels(connection))(serverOf(connection));
}

describe('a connection to a master', () => {
  it('is known as that if the master has the name of a field', async () => {
    const { port } = set.servers[0];
    const own = set.sentinels.map((sentinel) => new Redis({ port: sentinel.port, host: '127.0.0.1' }));
    for (const one of own) await one.call('SENTINEL', 'MONITOR', 'flags', '127.0.0.1', port, 2);
    const connection = await open(set.url.replace(/main$/, 'flags'));
    for (const one of own) {
      const isReached = async (): Promise<boolean> =>
        !String(await one.call('SENTINEL', 'MASTER', 'flags')).includes('disconnected');
      while (!(await isReached())) await sleep(20);
    }

    expect(await mastership(connection)).toBe('master');
    for (const one of own) await one.call('SENTINEL', 'REMOVE', 'flags');
    for (const one of [connection, ...own]) one.disconnect();
  });

  it('learns of another master, while the old one still accepts writes', async () => {
    const [master] = set.servers;
    const connection = await open(set.url);
    const before = await mastership(connection);
    process.kill(master.pid, 'SIGSTOP');
    const meanwhile = new Set<Mastership>();
    while ((await set.masterPort()) === master.port) {
      meanwhile.add(await mastership(connection));
      await sleep(20);
    }
    process.kill(master.pid, 'SIGCONT');
    const written = await connection.set('lost', '1');
    const after = await mastership(connection);
    const other = await open(set.url);

    expect([before, written, after]).toEqual(['master', 'OK', 'replaced']);
    // During a failover the master is unknown.
    expect([...meanwhile]).toContain('unknown');
    // The Sentinels learn of the failover one after another.
    while ((await mastership(other)) !== 'master') await sleep(20);
    connection.disconnect();
    other.disconnect();
  });

  it('is to no server while another connection is made', async () => {
    const connection = await open(set.url);
    const before = serverOf(connection);
    const states: (readonly [string, string | undefined])[] = [];
    const closed = new Promise<void>((resolve) => {
      connection.once('close', () => states.push(['close', serverOf(connection)]));
      connection.once('reconnecting', () => states.push(['reconnecting', serverOf(connection)]));
      connection.once('ready', () => resolve());
    });
    connection.disconnect(true);
    await closed;

    expect(before).toMatch(/^127\.0\.0\.1 \d+$/);
    expect(states).toEqual([
      ['close', undefined],
      ['reconnecting', undefined],
    ]);
    expect(serverOf(connection)).toMatch(/^127\.0\.0\.1 \d+$/);
    connection.disconnect();
  });

  it('is to no single server of a cluster', async () => {
    const cluster = await startRedisCluster(executable);
    const connection = await open(cluster.url);

    expect([connection.status, serverOf(connection)]).toEqual(['ready', undefined]);
    connection.disconnect();
    await cluster.stop();
  });

  it('has no source without Sentinels', async () => {
    const server = await startRedisServer({ executable });
    const connection = await open(server.url);

    expect(await mastership(connection)).toBe('master');
    connection.disconnect();
    await server.stop();
  });
});
