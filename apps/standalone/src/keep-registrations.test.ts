import { openProbeRecords } from '@vantage/coordinator';
import { findRedisServer, startRedisServer, type RedisServer } from '@vantage/redis-server';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';

import { demoProbes } from './demo-probes.ts';
import { keepRegistrations } from './keep-registrations.ts';

let server: RedisServer;
let redis: Redis;
let opened: Awaited<ReturnType<typeof openProbeRecords>>;

beforeAll(async () => {
  server = await startRedisServer({ executable: findRedisServer(process.env['PATH'] ?? '')! });
  redis = new Redis(server.url);
  opened = await openProbeRecords(server.url);
});

afterAll(async () => {
  await opened.close();
  redis.disconnect();
  await server.stop();
});

const ids = async (): Promise<readonly string[]> => (await opened.records.list()).map(({ id }) => id);

describe('the registrations of a service', () => {
  it('are written again after FLUSHALL; one that was removed alone stays removed', async () => {
    const wanted = demoProbes(3);
    for (const record of wanted) await opened.records.write(record);
    await opened.records.remove('demo-2');
    const first = Promise.withResolvers<string>();
    const stop = keepRegistrations(server.url, wanted, first.resolve);
    const connectionsBefore = await connections();
    // Each pass of `keepRegistrations` opens a connection: two more mean that one whole pass is over.
    while ((await connections()) < connectionsBefore + 2) await new Promise((resolve) => setTimeout(resolve, 50));
    const beforeFlush = await ids();

    await redis.flushall();
    const line = await first.promise;
    await stop();

    expect(beforeFlush).toEqual(['demo-1', 'demo-3']);
    expect(await ids()).toEqual(['demo-1', 'demo-2', 'demo-3']);
    expect(line).toBe('Redis was emptied; the probes are registered again');
  });
});

async function connections(): Promise<number> {
  return Number(/total_connections_received:(\d+)/.exec(await redis.info('stats'))?.[1]);
}
