import type { Redis } from 'ioredis';

/** Reads a hash into an object without prototype: a probe may be named `constructor`. */
export async function readHash(redis: Redis, key: string): Promise<Record<string, string>> {
  return Object.assign(Object.create(null) as Record<string, string>, await redis.hgetall(key));
}
