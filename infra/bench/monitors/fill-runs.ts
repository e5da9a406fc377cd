import { redisKeys } from '@vantage/contract';
import { Redis } from 'ioredis';

/** As after 100 minutes: the last 100 runs of each monitor are there, so that each further one replaces one. */
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

/** With other times: it is no tick of the monitor that it is copied to. */
async function anyRun(redis: Redis, names: readonly string[]): Promise<string> {
  for (const name of names) {
    const [run] = await redis.lrange(redisKeys.monitorRuns(name), 0, 0);
    if (run !== undefined) return run;
  }
  throw new Error('No monitor has run.');
}
