import { openProbeRecords } from '@vantage/coordinator';
import { findRedisServer, startRedisServer, type RedisServer } from '@vantage/redis-server';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';

import { demoProbes, writeDemoProbes } from './demo-probes.ts';

let server: RedisServer;
let redis: Redis;

beforeAll(async () => {
  server = await startRedisServer({ executable: findRedisServer(process.env['PATH'] ?? '')! });
  redis = new Redis(server.url);
});

afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

describe('the records of local probes', () => {
  it('are replaced by those of this start; those of the operator are kept', async () => {
    const { records, close } = await openProbeRecords(server.url);
    const own = { ...demoProbes(1)[0]!, id: 'fra-1', tags: [] };
    await records.write(own);
    await writeDemoProbes(server.url, 3);
    await records.write({ ...demoProbes(1)[0]!, isp: 'Another' });

    const wanted = await writeDemoProbes(server.url, 2);
    const after = await records.list();
    await close();

    expect(after).toEqual([...wanted, own]);
  });

  it('need no write if they are there, so a Redis without free memory can be started again', async () => {
    const wanted = await writeDemoProbes(server.url, 2);
    await redis.config('SET', 'maxmemory', '1');

    await expect(redis.set('any', 'value')).rejects.toThrow('OOM');
    expect(await writeDemoProbes(server.url, 2)).toEqual(wanted);
  });
});
