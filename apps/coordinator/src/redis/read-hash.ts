import type { Redis } from 'ioredis';

/** Reads a hash into an object without prototype: a probe may be named `constructor`. */
export async function readHash(redis: Redis, key: string): Promise<Record<string, string>> {
  return Object.assign(Object.create(null) as Record<string, string>, await redis.hgetall(key));
}

/** True if two hashes have the same fields and values. */
export function isSameHash(one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean {
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => one[key] === other[key]);
}
