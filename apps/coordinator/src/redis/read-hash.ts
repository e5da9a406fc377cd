import type { Redis } from 'ioredis';

/** A hash by its fields, without a prototype: a probe may be called `constructor`. */
export async function readHash(redis: Redis, key: string): Promise<Readonly<Record<string, string>>> {
  return Object.assign(Object.create(null) as Record<string, string>, await redis.hgetall(key));
}
