import { redisKeys, type ProbeRecord } from '@vantage/contract';
import { findRedisServer, startRedisServer, type RedisServer } from '@vantage/redis-server';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';

import { createRecordCache, type RecordCache } from './record-cache.ts';
import { createProbeValidators } from './probe-validators.ts';

const MANY = 2_500;

let server: RedisServer;
let redis: Redis;
let cache: RecordCache;

beforeAll(async () => {
  server = await startRedisServer({ executable: findRedisServer(process.env['PATH'] ?? '')! });
  redis = new Redis(server.url);
});

afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

beforeEach(async () => {
  await redis.flushall();
  cache = createRecordCache(createProbeValidators());
});

const write = async (count: number): Promise<void> => {
  const ids = Array.from({ length: count }, (_, index) => `sim-${index}`);
  const place = { datacenter: 'x', countryCode: 'DE', isp: 'x', asNumber: 'AS64496', city: null };
  const texts = ids.map((id) => JSON.stringify({ ...place, id, name: id, latitude: null, longitude: null, tags: [] }));
  await redis.mset(...ids.flatMap((id, index) => [redisKeys.probeRecord(id), texts[index]!]));
  await redis.sadd(redisKeys.probeIds, ...ids);
};

const rename = async (id: string, name: string): Promise<void> => {
  const record = JSON.parse((await redis.get(redisKeys.probeRecord(id)))!) as ProbeRecord;
  await redis.set(redisKeys.probeRecord(id), JSON.stringify({ ...record, name }));
};

describe.each([10, MANY])('the records of %i probes', (count) => {
  it('are the same array while none changes', async () => {
    await write(count);
    const before = await cache.read(redis);

    expect(before).toHaveLength(count);
    for (let times = 0; times < 4; times += 1) expect(await cache.read(redis)).toBe(before);
  });

  it('have a new one, and none that was removed, at the next read', async () => {
    await write(count);
    await cache.read(redis);
    await write(count + 1);
    const after = await cache.read(redis);
    await redis.srem(redisKeys.probeIds, 'sim-3');

    expect(after).toHaveLength(count + 1);
    expect((await cache.read(redis)).map(({ id }) => id)).not.toContain('sim-3');
  });

  it('have a change within one rotation, and other records as the same objects', async () => {
    await write(count);
    const before = await cache.read(redis);
    await rename('sim-7', 'Other');
    let after = before;
    for (let times = 0; times < Math.ceil(count / 1_000); times += 1) after = await cache.read(redis);

    expect(after.filter((record, index) => record !== before[index]).map(({ name }) => name)).toEqual(['Other']);
  });

  it('have none that cannot be read', async () => {
    await write(count);
    await redis.set(redisKeys.probeRecord('sim-1'), '{}');
    await redis.del(redisKeys.probeRecord('sim-2'));

    expect(await cache.read(redis)).toHaveLength(count - 2);
  });
});

it('costs a few commands, and reads a thousand records at most', async () => {
  await write(MANY);
  await cache.read(redis);
  const stats = async (): Promise<{ readonly bytes: number; readonly commands: number }> => {
    const text = await redis.info('stats');
    const of = (name: string): number => Number(new RegExp(`${name}:(\\d+)`).exec(text)?.[1]);
    return { bytes: of('total_net_output_bytes'), commands: of('total_commands_processed') };
  };
  const whole = JSON.stringify(await cache.read(redis)).length;
  const before = await stats();
  await cache.read(redis);
  const after = await stats();

  expect(after.bytes - before.bytes).toBeLessThan(whole / 2);
  // One of these commands reads the statistics.
  expect(after.commands - before.commands).toBeLessThan(6);
});

it('takes one trip while the probes stay the same', async () => {
  await write(3);
  await cache.read(redis);
  const sent: string[] = [];
  const watched = new Proxy(redis, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      sent.push(String(name));
      return value.bind(target);
    },
  });

  const reading = cache.read(watched);

  expect(sent).toEqual(['smembers', 'mget']);
  expect(await reading).toHaveLength(3);
});
