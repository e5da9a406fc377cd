import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

/** The checks among these whose results are still stored, neither expired nor evicted. */
export async function readKept(redis: Redis, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const distinct = [...new Set(ids)];
  const fields = await Promise.all(distinct.map((id) => redis.hmget(redisKeys.check(id), 'type', 'evicted')));
  return new Set(
    distinct.filter((_, index) => {
      const [type, evicted] = fields[index]!;
      return typeof type === 'string' && typeof evicted !== 'string';
    }),
  );
}
