import { Cluster, type Redis } from 'ioredis';

import { slotOf } from './slot.ts';

/** True for a cluster client: concurrent commands may go to different servers. */
export function isCluster(redis: Redis): boolean {
  return clusterOf(redis) !== undefined;
}

/** The servers that accept writes: the single one, or the masters of a cluster. */
export function mastersOf(redis: Redis): readonly Redis[] {
  return clusterOf(redis)?.nodes('master') ?? [redis];
}

/** The server of a key; undefined while the cluster client does not know it. */
export function masterOf(redis: Redis, key: string): Redis | undefined {
  const cluster = clusterOf(redis);
  if (cluster === undefined) return redis;
  const [name] = cluster.slots[slotOf(key)] ?? [];
  return cluster.nodes('master').find(({ options }) => `${options.host}:${options.port}` === name);
}

function clusterOf(redis: unknown): Cluster | undefined {
  return redis instanceof Cluster ? redis : undefined;
}
