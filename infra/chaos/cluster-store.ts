import { Redis } from 'ioredis';
import { startRedisCluster, type RedisCluster } from '@vantage/redis-server';

/** Three masters without replicas, which share the slots. */
export interface ClusterStore extends RedisCluster {
  /** Each master, and a key of its slots. */
  readonly watched: readonly { readonly port: number; readonly key: string }[];
  /** Sends SIGKILL to a master. */
  readonly kill: (index: number) => Promise<void>;
}

const MASTERS = 3;

export async function keepCluster(executable: string): Promise<ClusterStore> {
  const cluster = await startRedisCluster(executable, MASTERS, ['--appendfsync', 'always']);
  const watched = await Promise.all(cluster.nodes.map(async ({ port }) => ({ port, key: await keyOf(port) })));
  return {
    ...cluster,
    watched,
    kill: async (index) => {
      const { pid, ended } = cluster.nodes[index]!;
      process.kill(pid, 'SIGKILL');
      await ended;
    },
  };
}

/** A key in a slot of the master at this port. */
async function keyOf(port: number): Promise<string> {
  const redis = new Redis(port, '127.0.0.1');
  try {
    for (let number = 0; ; number += 1) {
      const key = `chaos:watch:{${number}}`;
      const isTaken = await redis.set(key, '1', 'PX', 1).catch((error: unknown) => {
        if (Error.isError(error) && error.message.startsWith('MOVED ')) return undefined;
        throw error;
      });
      if (isTaken !== undefined) return key;
    }
  } finally {
    redis.disconnect();
  }
}
