import { redisKeys } from '@vantage/contract';
import { Redis } from 'ioredis';

/** Writes the state after 100 minutes: each monitor has its last 100 runs, so each further run replaces one. */
export async function fillRuns(port: number, names: readonly string[]): Promise<void> {
  const redis = new Redis(port);
  for (const name of names) {
    const key = redisKeys.monitorRuns(name);
    const [run] = await redis.lrange(key, 0, 0);
    const sample = run ?? (await anyRun(redis, names));
    await redis.rpush(key, ...Array.from({ length: 100 }, () => sample));
    await redis.ltrim(key, 0, 99);
  }
  redis.disconnect();
}

/** Any recorded run, for a monitor that has not run. */
async function anyRun(redis: Redis, names: readonly string[]): Promise<string> {
  for (const name of names) {
    const [run] = await redis.lrange(redisKeys.monitorRuns(name), 0, 0);
    if (run !== undefined) return run;
  }
  throw new Error('No monitor has run.');
}
