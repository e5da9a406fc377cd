import { isIP } from 'node:net';

import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { readHash } from '../redis/read-hash.ts';

/** `host:port` at which Prometheus reaches the metrics of an agent, by the id of its probe. No agent can write them. */
export async function readMetricsAddresses(redis: Redis): Promise<ReadonlyMap<string, string>> {
  return new Map(Object.entries(await readHash(redis, redisKeys.metricsAddresses)));
}

/** Replaces the address; undefined removes it. */
export async function writeMetricsAddress(redis: Redis, id: string, address: string | undefined): Promise<void> {
  if (address === undefined) await redis.hdel(redisKeys.metricsAddresses, id);
  else await redis.hset(redisKeys.metricsAddresses, id, address);
}

/** True for a host name or an address with a port, of IPv6 in brackets: the form of a target of Prometheus. */
export function isMetricsAddress(text: string): boolean {
  const [, bracketed, host = '', port = ''] = /^(?:\[([^\]]*)\]|([^:]*)):(\d{1,5})$/.exec(text) ?? [];
  const isHost = bracketed === undefined ? isIP(host) === 4 || isHostName(host) : isIP(bracketed) === 6;
  return isHost && Number(port) >= 1 && Number(port) <= 65_535;
}

/**
 * True for a name by RFC 1123 section 2.1, also with underscores and final hyphens, which names of containers may have.
 */
function isHostName(text: string): boolean {
  return text.length <= 253 && /^(?!-)[\w-]{1,63}(?:\.(?!-)[\w-]{1,63})*$/.test(text) && !/^[\d.]+$/.test(text);
}
