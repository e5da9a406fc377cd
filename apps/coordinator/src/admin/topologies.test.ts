import { agentUser, redisKeys } from '@vantage/contract';
import { afterAll, describe, expect, it } from '@jest/globals';
import { openOnce, openPatient } from '@vantage/redis-connections';
import {
  findRedisServer,
  startRedisCluster,
  startRedisSentinel,
  type RedisCluster,
  type RedisSentinel,
} from '@vantage/redis-server';
import { Redis } from 'ioredis';

import { quiet, until } from '../../test/core-bed.ts';
import { readAdminConfig } from './config.ts';
import { runProbeAdmin } from './commands.ts';
import { runKeyAdmin } from './keys/key-commands.ts';
import { createKeyRing } from '../keys/key-ring.ts';
import { createRedisClock } from '../redis/clock.ts';
import { createKeyQuota } from '../probes/key-quota.ts';

const executable = findRedisServer(process.env['PATH'] ?? '')!;
const record = ['--name', 'A', '--datacenter', 'B', '--country', 'DE', '--isp', 'C', '--asn', 'AS64496'];

interface Shown {
  readonly done: boolean;
  readonly environment: { readonly REDIS_URL: string };
  readonly nodes: readonly { readonly node: string; readonly fault: string | null }[];
}

async function admin(url: string, ...args: readonly string[]): Promise<Shown> {
  const out: string[] = [];
  const err: string[] = [];
  const streams = { out: (line: string) => out.push(line), err: (line: string) => err.push(line) };
  await runProbeAdmin([...args, '--json'], readAdminConfig({ REDIS_URL: url }), streams);
  if (out.length === 0) throw new Error(err.join('\n'));
  return JSON.parse(out.join('\n')) as Shown;
}

async function usersOf(ports: readonly number[], probe: string): Promise<readonly boolean[]> {
  return Promise.all(
    ports.map(async (port) => {
      const redis = new Redis(port, '127.0.0.1');
      const user: unknown = await redis.call('ACL', 'GETUSER', agentUser(probe));
      redis.disconnect();
      return user !== null;
    }),
  );
}

/** Connects with the credentials that the command printed for an agent. */
function connectAs(url: string, probe: string): Redis {
  const keyInUse = redisKeys.results(probe);
  return openPatient({ url, name: 'agent', log: { info: () => 0, warn: () => 0 }, resend: true, keyInUse });
}

describe('on a cluster', () => {
  let cluster: RedisCluster | undefined;
  afterAll(async () => cluster?.stop());

  it('the user of an agent is on every node, works, is switched off everywhere, and goes from every node', async () => {
    cluster = await startRedisCluster(executable);
    const ports = cluster.nodes.map(({ port }) => port);
    const added = await admin(cluster.url, 'add', 'fra', ...record);
    const have = await usersOf(ports, 'fra');
    const agent = connectAs(added.environment.REDIS_URL, 'fra');
    await agent.xadd(redisKeys.results('fra'), '*', 'data', 'x'.repeat(100_000));
    const redis = await openOnce({ url: cluster.url, name: 'test' });
    const guard = createKeyQuota({ redis, limitBytes: 50_000, log: quiet });

    // Like a coordinator: tries again while the connection to a node is not established.
    await until(async () => {
      await redis.del(redisKeys.keyQuotaLock);
      return guard.poll().catch(() => false);
    });
    await until(async () => (await redis.exists(redisKeys.results('fra'))) === 0);
    const listed = await admin(cluster.url, 'list');
    const removed = await admin(cluster.url, 'remove', 'fra');

    expect(added).toMatchObject({ done: true, nodes: [{ fault: null }, { fault: null }, { fault: null }] });
    expect(added.environment.REDIS_URL).toMatch(/^redis\+cluster:\/\/probe-fra:[\w-]{43}@127\.0\.0\.1:\d+,/);
    expect(have).toEqual([true, true, true]);
    expect(listed).toMatchObject({
      probes: [{ id: 'fra', nodes: [{ state: 'off' }, { state: 'off' }, { state: 'off' }] }],
    });
    expect(removed.done).toBe(true);
    expect(await usersOf(ports, 'fra')).toEqual([false, false, false]);
    expect(await redis.exists(redisKeys.results('fra'))).toBe(0);
    agent.disconnect();
    redis.disconnect();
  });
});

describe('API keys', () => {
  let cluster: RedisCluster | undefined;
  afterAll(async () => cluster?.stop());

  it('are added, read, rotated and removed on a cluster', async () => {
    cluster = await startRedisCluster(executable);
    const config = readAdminConfig({ REDIS_URL: cluster.url });
    const run = async (...args: readonly string[]): Promise<string> => {
      const out: string[] = [];
      const code = await runKeyAdmin(args, config, { out: (line) => out.push(line), err: () => undefined });
      return `${code} ${out.join('\n')}`;
    };
    const redis = await openOnce({ url: cluster.url, name: 'test' });
    const ring = createKeyRing(redis, createRedisClock(), quiet);
    const found = async (text: string): Promise<unknown> => {
      await ring.poll();
      return ring.find(text);
    };

    const [, first = ''] = (await run('key:add', 'grafana', '--scopes', 'read')).split(' ');
    expect(await found(first)).toMatchObject({ key: { name: 'grafana' } });
    const [, second = ''] = (await run('key:rotate', 'grafana')).split(' ');
    expect([await found(first), await found(second)]).toMatchObject([
      { refused: 'unknown' },
      { key: { name: 'grafana' } },
    ]);
    expect(await run('key:remove', 'grafana')).toBe('0 ');
    expect(await found(second)).toEqual({ refused: 'unknown' });
    redis.disconnect();
  });
});

describe('behind Sentinels', () => {
  let sentinel: RedisSentinel | undefined;
  afterAll(async () => sentinel?.stop());

  it('the user of an agent is on the master and on its replica, and works', async () => {
    sentinel = await startRedisSentinel(executable, 60_000);
    const ports = sentinel.servers.map(({ port }) => port);
    const added = await admin(sentinel.url, 'add', 'fra', ...record);
    const agent = connectAs(added.environment.REDIS_URL, 'fra');
    await agent.set(redisKeys.heartbeat('fra'), '{}', 'PX', 15_000);

    expect(added.done).toBe(true);
    expect(added.environment.REDIS_URL).toMatch(/^redis\+sentinel:\/\/probe-fra:[\w-]{43}@127\.0\.0\.1:\d+,.*\/main$/);
    await until(async () => (await usersOf(ports, 'fra')).every(Boolean));
    agent.disconnect();
  });

  it('an agent needs two questions to the Sentinels and nothing more of them', async () => {
    const asking = ['+sentinel|get-master-addr-by-name', '+sentinel|sentinels', '+hello', '+client|setname'];
    const sentinels = sentinel!.sentinels.map(({ port }) => new Redis(port, '127.0.0.1', { enableReadyCheck: false }));
    await Promise.all(
      sentinels.map((one) => one.call('ACL', 'SETUSER', 'agents', 'on', '>secret', '-@all', ...asking)),
    );
    const { environment } = await admin(sentinel!.url, 'rotate', 'fra');
    const agent = connectAs(`${environment.REDIS_URL}?sentinelUser=agents&sentinelPassword=secret`, 'fra');

    await agent.set(redisKeys.heartbeat('fra'), '{}', 'PX', 15_000);

    const refused = await Promise.all(sentinels.map((one) => one.call('ACL', 'LOG')));
    expect(refused).toEqual([[], [], []]);
    for (const connection of [agent, ...sentinels]) connection.disconnect();
  });
});
