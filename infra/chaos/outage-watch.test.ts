import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findRedisServer, startRedisServer, type RedisServer } from '@vantage/redis-server';

import { historyNow } from './history.ts';
import { openWatched, watchOutages } from './outage-watch.ts';

describe('the watch of outages', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer({ executable: findRedisServer(process.env['PATH'] ?? '')! });
  });
  afterAll(() => server.stop());

  const span = async (spoil: () => Promise<void>): Promise<number> => {
    let runs = true;
    const watch = watchOutages(
      () => openWatched([server]),
      () => runs,
    );
    await sleep(200);
    const from = historyNow();
    await spoil();
    const to = historyNow();
    const counted = watch.within(from, to);
    runs = false;
    await watch.stop();
    expect(counted).toBeLessThanOrEqual(to - from);
    return counted;
  };

  it('counts the time in which Redis does not answer', async () => {
    const counted = await span(async () => {
      process.kill(server.pid, 'SIGSTOP');
      await sleep(1_500);
      process.kill(server.pid, 'SIGCONT');
    });

    expect(counted).toBeGreaterThan(1_000);
  });

  it('counts the time in which the machine stands still, once', async () => {
    const counted = await span(async () => {
      for (let times = 0; times < 3; times += 1) {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600);
        await sleep(20);
      }
    });

    expect(counted).toBeGreaterThan(1_500);
  });
});
