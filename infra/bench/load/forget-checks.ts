import { JOB_QUEUE, redisKeys } from '@vantage/contract';
import { Redis } from 'ioredis';

/** Key of the results of a check, with its id. */
const RESULTS = new RegExp(`^${redisKeys.checkResults('ID').replace(/[{}]/g, '\\$&').replace('ID', '(.+)')}$`);

/**
 * Removes all checks and the job queues of all probes. Also announces a result of each probe, because coordinators
 * would otherwise count the removed jobs until their deadlines.
 */
export async function forgetChecks(port: number): Promise<void> {
  const redis = new Redis({ host: '127.0.0.1', port });
  try {
    await redis.del(redisKeys.deadlines);
    for (const match of [`${redisKeys.check('*')}*`, `${redisKeys.queuePrefix('*')}:${JOB_QUEUE}:*`]) {
      for await (const page of redis.scanStream({ match, count: 1_000 })) {
        const keys = page as readonly string[];
        await Promise.all(keys.map((key) => announceResults(redis, key)));
        if (keys.length > 0) await redis.unlink(...keys);
      }
    }
  } finally {
    redis.disconnect();
  }
}

async function announceResults(redis: Redis, key: string): Promise<void> {
  const id = RESULTS.exec(key)?.[1];
  if (id === undefined) return;
  const probes = await redis.hkeys(key);
  const results = probes.map((probe) => JSON.stringify({ version: 1, probe, kind: 'final' }));
  await Promise.all(results.map((result) => redis.publish(redisKeys.checkEvents(id), result)));
}
