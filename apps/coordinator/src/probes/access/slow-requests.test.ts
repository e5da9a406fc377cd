import { readFileSync } from 'node:fs';

import { agentRights, agentUser, redisKeys } from '@vantage/contract';
import { openFailFast } from '@vantage/redis-connections';
import {
  findRedisServer,
  startRedisCluster,
  startRedisServer,
  type RedisCluster,
  type RedisServer,
} from '@vantage/redis-server';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';

import { quiet, until } from '../../../test/core-bed.ts';
import { createConnectionQuota } from './connection-quota.ts';
import { createSlowRequests } from './slow-requests.ts';

const executable = findRedisServer(process.env['PATH'] ?? '')!;
const longRequest = ['UNLINK', ...Array.from({ length: 40 }, (_, index) => `p:{thief}:jobs:${index}`)] as const;

let server: RedisServer;
let admin: Redis;
let agent: Redis;

beforeAll(async () => {
  server = await startRedisServer({ executable });
  admin = new Redis(server.url);
  await admin.call('ACL', 'SETUSER', agentUser('thief'), 'on', '>secret', ...agentRights('thief'));
  // Logs every request, so that the test does not depend on the speed of the machine.
  await admin.config('SET', 'slowlog-log-slower-than', '0');
});

beforeEach(async () => {
  await admin.slowlog('RESET');
  agent = connectAsThief();
});

afterEach(() => agent.disconnect());

afterAll(async () => {
  admin.disconnect();
  await server.stop();
});

function connectAsThief(): Redis {
  const login = { username: agentUser('thief'), password: 'secret' };
  const policy = { enableReadyCheck: false, disableClientInfo: true, retryStrategy: null };
  return new Redis(server.url, { ...login, ...policy });
}

/** Reads the users of all connections, as the key quota does. */
async function usersNow(): Promise<ReadonlyMap<string, string>> {
  const lines = String(await admin.client('LIST')).split('\n');
  return new Map(
    lines.map((line) => [/ addr=(\S+)/.exec(line)?.[1] ?? '', / user=(\S+)/.exec(line)?.[1] ?? ''] as const),
  );
}

async function send(times: number, [command, ...words]: readonly [string, ...string[]], from = agent): Promise<void> {
  for (let sent = 0; sent < times; sent += 1) await from.call(command, ...words).catch(() => undefined);
}

describe('the requests of an agent in the slow log', () => {
  it.each<readonly [string, readonly [string, ...string[]]]>([
    ['more words than any', longRequest],
    ['a longer word than any', ['UNLINK', `p:{thief}:jobs:${'x'.repeat(1_000)}`]],
    [
      'large words behind short ones',
      [...longRequest, ...Array.from({ length: 20 }, () => 'p:{thief}:jobs:'.padEnd(1_000_000, 'x'))],
    ],
  ])('count if they have %s', async (_what, request) => {
    const slow = createSlowRequests(admin, quiet);
    await send(3, request);

    expect(await slow.poll(await usersNow())).toEqual(['thief']);
    slow.forget('thief');
    expect(await slow.poll(await usersNow())).toEqual([]);
  });

  it.each<readonly [string, readonly [string, ...string[]]]>([
    ['the removal of fifteen jobs', ['UNLINK', ...longRequest.slice(1, 31)]],
    ['a large result', ['XADD', redisKeys.results('thief'), '*', 'data', 'x'.repeat(60_000)]],
    ['a job', ['HGETALL', 'p:{thief}:jobs:1']],
  ])('do not count if an agent sends them: %s', async (_what, request) => {
    const slow = createSlowRequests(admin, quiet);
    await send(20, request);

    expect(await slow.poll(await usersNow())).toEqual([]);
  });

  it('do not count if a coordinator or an operator sent them', async () => {
    const slow = createSlowRequests(admin, quiet);
    await send(5, longRequest, admin);

    expect(await slow.poll(await usersNow())).toEqual([]);
  });

  it('count although the connection is closed, by their keys', async () => {
    const slow = createSlowRequests(admin, quiet);
    await send(3, longRequest);
    agent.disconnect();
    await until(async () => ![...(await usersNow()).values()].includes(agentUser('thief')));

    expect(await slow.poll(await usersNow())).toEqual(['thief']);
  });

  it('count after a look that failed, and until the agent is suspended', async () => {
    let fails = true;
    const shaky = new Proxy(admin, {
      get: (target, name) => {
        if (name === 'time' && fails) return () => Promise.reject(new Error('no reply'));
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const slow = createSlowRequests(shaky, quiet);
    await send(3, longRequest);
    const users = await usersNow();

    await expect(slow.poll(users)).rejects.toThrow('no reply');
    fails = false;

    expect(await slow.poll(users)).toEqual(['thief']);
    expect(await slow.poll(users)).toEqual(['thief']);
  });

  it('count once each, also after Redis has begun its log again', async () => {
    const slow = createSlowRequests(admin, quiet);
    await send(2, longRequest);
    await slow.poll(await usersNow());

    expect(await slow.poll(await usersNow())).toEqual([]);
    await send(1, longRequest);
    expect(await slow.poll(await usersNow())).toEqual(['thief']);
  });
});

describe('the user of coordinators', () => {
  const login = async (rights: string): Promise<Redis> => {
    await admin.call('ACL', 'SETUSER', 'coordinator', 'reset', 'on', '>word', '~*', '&*', ...rights.split(' '));
    return new Redis(server.url, { username: 'coordinator', password: 'word', retryStrategy: null });
  };

  it('may read the slow log, connections and refusals with the rights of the containers', async () => {
    const file = readFileSync(new URL('../../../../../infra/docker/first-start.mjs', import.meta.url), 'utf8');
    const [, rights = ''] = /return '([+]@all [^']+)'/.exec(file) ?? [];
    const coordinator = await login(rights);
    await send(3, longRequest);

    const { users } = await createConnectionQuota(coordinator).enforce();

    expect([...users.values()]).toContain(agentUser('thief'));
    expect(await createSlowRequests(coordinator, quiet).poll(users)).toEqual(['thief']);
    expect(await coordinator.call('ACL', 'USERS')).toContain('coordinator');
    await expect(coordinator.call('ACL', 'LOG', '1')).resolves.toBeDefined();
    coordinator.disconnect();
  });

  it('is reported once if it may not', async () => {
    const coordinator = await login('+@all -@dangerous +info');
    const warnings: unknown[] = [];
    const slow = createSlowRequests(coordinator, { ...quiet, warn: (fields: unknown) => warnings.push(fields) });

    for (let polls = 0; polls < 3; polls += 1) expect(await slow.poll(new Map())).toEqual([]);

    expect(warnings).toHaveLength(1);
    coordinator.disconnect();
  });
});

describe('on a cluster', () => {
  let cluster: RedisCluster;

  beforeAll(async () => {
    cluster = await startRedisCluster(executable);
  });

  afterAll(async () => cluster.stop());

  it('the slow log of every master is read', async () => {
    const redis = openFailFast({ url: cluster.url, name: 'test', log: quiet });
    await until(() => redis.status === 'ready');
    const slow = createSlowRequests(redis, quiet);
    const probes: string[] = [];
    // Each master has the keys of some of these probes.
    for (let index = 0; index < 12; index += 1) probes.push(`thief-${index}`);
    for (const { port } of cluster.nodes) {
      const node = new Redis(port, '127.0.0.1');
      await node.config('SET', 'slowlog-log-slower-than', '0');
      for (const probe of probes) {
        const request = longRequest.slice(1).map((key) => key.replace('thief', probe));
        // The master that has the keys logs the request; the others refuse it without an entry.
        await Promise.all([1, 2, 3].map(() => node.unlink(...request).catch(() => undefined)));
      }
      node.disconnect();
    }

    const found = await slow.poll(new Map());
    redis.disconnect();

    expect([...found].toSorted()).toEqual(probes.toSorted());
  });
});
