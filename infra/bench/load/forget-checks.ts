import { JOB_QUEUE, redisKeys } from '@vantage/contract';
import { Redis } from 'ioredis';

/** Removes all checks and the jobs of all probes. */
export async function forgetChecks(port: number): Promise<void> {
  const redis = new Redis({ host: '127.0.0.1', port });
  try {
    await redis.del(redisKeys.deadlines);
    for (const match of [`${redisKeys.check('*')}*`, `${redisKeys.queuePrefix('*')}:${JOB_QUEUE}:*`]) {
      for await (const keys of redis.scanStream({ match, count: 1_000 })) {
        if ((keys as readonly string[]).length > 0) await redis.unlink(...(keys as string[]));
      }
    }
  } finally {
    redis.disconnect();
  }
}
