import { findRedisServer, startRedisServer, type RedisServer } from '@vantage/redis-server';
import { redisKeys } from '@vantage/contract';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';

import { startCoreBed, until, type CoreBed } from '../../../test/core-bed.ts';

let bed: CoreBed;
let replica: RedisServer;
let reader: Redis;

beforeAll(async () => {
  bed = await startCoreBed({}, { replicas: { count: 1, withinMs: 1_000 } });
  await bed.addProbe('fra-1');
  await bed.keepAlive('fra-1');
  await until(async () => (await bed.core.probes.list())['fra-1']?.status === 'healthy');
});

afterAll(async () => {
  reader?.disconnect();
  await replica?.stop();
  await bed.stop();
});

/** Starts a check; tries again while it is refused, since the replica may be too slow on a busy machine. */
async function startPatiently(): Promise<string> {
  for (;;) {
    const id = await bed.start({ probes: ['fra-1'] }).catch((error: unknown) => {
      expect(error).toMatchObject({ name: 'StoreUnavailable' });
    });
    if (id !== undefined) return id;
  }
}

async function replicas(): Promise<number> {
  const info = await bed.redis.info('replication');
  return (info.match(/state=online/g) ?? []).length;
}

describe('a promise', () => {
  it('does not wait if there is no replica', async () => {
    expect(await bed.create({ probes: ['fra-1'] })).toMatchObject({ created: true });
  });

  it('is made when a replica has the check', async () => {
    replica = await startRedisServer({
      executable: findRedisServer(process.env['PATH'] ?? '')!,
      arguments: ['--replicaof', '127.0.0.1', String(bed.server.port)],
    });
    reader = new Redis(replica.url);
    await until(async () => (await replicas()) === 1);
    // The number of replicas is polled each second.
    await until(async () => {
      await startPatiently();
      return (await bed.redis.info('commandstats')).includes('cmdstat_wait:');
    });
    const ids = await Promise.all(Array.from({ length: 20 }, startPatiently));
    const there = await Promise.all(ids.map((id) => reader.exists(redisKeys.check(id))));

    expect(there).toEqual(ids.map(() => 1));
  });

  it('is not made while the replica that is there does not take it, and nothing of the check is left', async () => {
    const before = await bed.redis.zcard(redisKeys.deadlines);
    process.kill(replica.pid, 'SIGSTOP');
    const refused = await bed.create({ probes: ['fra-1'], budget: 60_000 }).catch((error: unknown) => error);
    process.kill(replica.pid, 'SIGCONT');

    expect(refused).toMatchObject({ name: 'StoreUnavailable' });
    await until(async () => (await bed.redis.zcard(redisKeys.deadlines)) <= before);
  });

  it('is made without the replica where Redis offers no WAIT', async () => {
    await bed.redis.call('ACL', 'SETUSER', 'default', '-wait');
    const made = await bed.create({ probes: ['fra-1'] }).catch((error: unknown) => error);
    await bed.redis.call('ACL', 'SETUSER', 'default', '+wait');

    expect(made).toMatchObject({ created: true });
  });

  it('is made again without the replica once that is gone', async () => {
    reader.disconnect();
    await replica.stop();
    await until(async () => (await bed.create({ probes: ['fra-1'] }).catch(() => undefined))?.created === true);

    await until(async () => (await replicas()) === 0);
  });
});
