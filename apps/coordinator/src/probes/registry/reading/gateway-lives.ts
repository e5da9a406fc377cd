import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

/** Leases of gateways: heartbeats of the agents connected to a gateway expire with its lease. */
export interface GatewayLives {
  /** Reads the leases of these gateways and forgets all others. Rejects if Redis is unavailable. */
  readonly read: (redis: Redis, ids: Iterable<string>) => Promise<void>;
  /** Reads leases that are unknown or have expired. Rejects if Redis is unavailable. */
  readonly readUnknown: (redis: Redis, ids: Iterable<string>) => Promise<void>;
  /** Remaining lifetime of the lease, milliseconds; not positive if there is none. */
  readonly leftMs: (id: string) => number;
}

export function createGatewayLives(nowMs: () => number = () => performance.now()): GatewayLives {
  const endsAtMs = new Map<string, number>();

  const add = async (redis: Redis, ids: readonly string[]): Promise<void> => {
    const atMs = nowMs();
    const left = await Promise.all(ids.map((id) => redis.pttl(redisKeys.gateway(id))));
    for (const [index, id] of ids.entries()) endsAtMs.set(id, atMs + left[index]!);
  };
  return {
    read: async (redis, ids) => {
      const wanted = new Set(ids);
      for (const id of endsAtMs.keys()) if (!wanted.has(id)) endsAtMs.delete(id);
      await add(redis, [...wanted]);
    },
    readUnknown: async (redis, ids) => {
      const unknown = [...new Set(ids)].filter((id) => (endsAtMs.get(id) ?? 0) <= nowMs());
      await add(redis, unknown);
    },
    leftMs: (id) => (endsAtMs.get(id) ?? Number.NEGATIVE_INFINITY) - nowMs(),
  };
}
