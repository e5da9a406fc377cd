import { JOB_QUEUE, redisKeys, type Failure } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { defineScript, runScript } from '../../redis/scripts.ts';

/**
 * Notes withdrawn jobs. `allow-oom`, because a flood may have used up the memory. KEYS withdrawn jobs. ARGV failure
 * (JSON), then `<job id> <probe>` of each.
 */
const noteScript = defineScript(
  'allow-oom',
  `
for index = 2, #ARGV do redis.call('HSET', KEYS[1], ARGV[index], ARGV[1]) end`,
);

/** Maximum jobs that one call withdraws from each list. */
const MOST_JOBS = 4_000;

/**
 * Takes the jobs of a probe that was suspended or removed out of its queue, also those under way, and notes them with
 * the failure that coordinators then write as their results.
 */
export async function withdrawJobs(redis: Redis, probe: string, failure: Failure): Promise<void> {
  const prefix = `${redisKeys.queuePrefix(probe)}:${JOB_QUEUE}:`;
  const lists = [`${prefix}wait`, `${prefix}active`];
  const found = await Promise.all(lists.map((list) => redis.lrange(list, 0, MOST_JOBS - 1)));
  const ids = [...new Set(found.flat())];
  if (ids.length === 0) return;
  // Noted first, so that these jobs end even if the rest fails.
  const fields = ids.map((id) => `${id} ${probe}`);
  await runScript(redis, noteScript, [redisKeys.withdrawnJobs], [JSON.stringify(failure), ...fields]);
  await redis.unlink(...ids.map((id) => `${prefix}${id}`));
  await Promise.all(ids.flatMap((id) => lists.map((list) => redis.lrem(list, 1, id))));
}
