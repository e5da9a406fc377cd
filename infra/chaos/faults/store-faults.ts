import { setTimeout as sleep } from 'node:timers/promises';

import { redisKeys } from '@vantage/contract';

import { openDirect, type Deployment } from '../deployment.ts';
import { configure, pick, type Fault } from './fault.ts';
import { redisUntil } from './redis.ts';

/** Faults of a single Redis and of disks, and forged results. */
export const storeFaults: readonly Fault[] = [
  {
    name: 'Redis killed and started again on its append-only file',
    store: 'single',
    inject: async ({ deployment, random, scale, harm }) => {
      harm('store');
      await deployment.store.kill();
      await sleep((500 + random() * 3_000) * scale);
      await deployment.store.restart();
      await sleep(2_000 * scale);
    },
  },
  {
    name: 'Redis out of memory',
    store: 'single',
    inject: async ({ deployment, scale, harm }) => {
      harm('store');
      await configure(deployment, 'maxmemory', '1');
      await sleep(3_000 * scale);
      await configure(deployment, 'maxmemory', '0');
      await sleep(1_000 * scale);
    },
  },
  {
    name: 'disk of Redis full',
    store: 'single',
    impossible: ({ store }) => (store.disk === undefined ? 'a small disk needs root' : undefined),
    inject: async ({ deployment, scale, harm }) => {
      harm('store');
      // With `always`, Redis exits at the first failed write, as if it were killed.
      await configure(deployment, 'appendfsync', 'everysec');
      deployment.store.disk?.fill();
      await sleep(4_000 * scale);
      deployment.store.disk?.free();
      // Redis retries to write its file each second.
      await redisUntil(deployment, (redis) => redis.set('chaos:disk', '1', 'PX', 1_000));
      await writeFileAnew(deployment);
      await configure(deployment, 'appendfsync', 'always');
    },
  },
  {
    name: 'no inode left on the disk of Redis',
    store: 'single',
    impossible: ({ store }) => (store.disk === undefined ? 'a small disk needs root' : undefined),
    // Affects no request: Redis continues to write the files that it has open.
    inject: async ({ deployment, scale }) => {
      deployment.store.disk?.fillInodes();
      await sleep(6_000 * scale);
      deployment.store.disk?.freeInodes();
    },
  },
  {
    name: 'disk of Redis slow',
    store: 'single',
    impossible: ({ store }) => (store.host === undefined ? 'a slow disk needs a C compiler' : undefined),
    inject: async ({ deployment, random, scale, harm }) => {
      harm('store');
      deployment.store.host?.slowDisk(pick([20, 50, 200], random));
      await sleep(8_000 * scale);
      deployment.store.host?.slowDisk(0);
    },
  },
  {
    name: 'disk of the logs full',
    impossible: ({ logDisk }) => (logDisk === undefined ? 'a small disk needs root' : undefined),
    // Affects nothing that a client depends on.
    inject: async ({ deployment, scale }) => {
      deployment.logDisk?.fill();
      await sleep(10_000 * scale);
      deployment.logDisk?.free();
    },
  },
  {
    name: 'duplicate, late and reordered results',
    inject: async ({ deployment, observer, random }) => {
      const redis = openDirect(await deployment.store.masterPort());
      for (const id of observer.completed().slice(0, 20)) {
        const { id: probe } = pick(deployment.agents, random);
        const forged = JSON.stringify({ ...forgedResult, rt: Math.round(random() * 1_000) });
        // In an order that no agent writes: the partial result after the final one.
        for (const kind of ['final', 'partial', 'final']) {
          await redis.xadd(redisKeys.results(probe), '*', 'check', id, 'kind', kind, 'data', forged);
        }
        await redis.publish(redisKeys.resultNotification(probe), '1');
      }
      redis.disconnect();
      await sleep(500);
    },
  },
];

/** A result that is valid for every type used here. */
const forgedResult = {
  result: 'success',
  resolvedIp: '192.0.2.99',
  error: null,
  port: 1,
  state: 'open',
  startedAt: '2026-01-01T00:00:00.000Z',
  finishedAt: '2026-01-01T00:00:00.100Z',
};

/**
 * Rewrites the append-only file, as an operator does after a full disk: Redis 7.0 left a record there that it could
 * not read.
 */
async function writeFileAnew(deployment: Deployment): Promise<void> {
  await redisUntil(deployment, (redis) => redis.bgrewriteaof());
  await redisUntil(deployment, async (redis) => {
    const state = await redis.info('persistence');
    if (!/aof_rewrite_in_progress:0/.test(state) || !/aof_rewrite_scheduled:0/.test(state))
      throw new Error('under way');
  });
}
