import { parseRedisUrl } from '@vantage/redis-connections';
import { canonicalizeHost, type ProtectedEndpoint } from '@vantage/target-policy';

import type { ProbeRuntime } from './runtime.ts';

/**
 * Endpoints that must not be measured: those of Redis in the URL, and those that `note` reports: servers of Redis, or
 * the proxy or gateway in place of it. `all` returns the same list until it changes.
 *
 * @throws if a host in the URL is neither a name nor an address
 */
export function redisEndpoints(url: string | undefined): {
  readonly all: () => readonly ProtectedEndpoint[];
  readonly note: ProbeRuntime['noteRedis'];
} {
  let endpoints: readonly ProtectedEndpoint[] = url === undefined ? [] : parseRedisUrl(url).endpoints;
  if (!endpoints.every(({ host }) => canonicalizeHost(host.includes(':') ? `[${host}]` : host, 'name').ok)) {
    throw new Error('A host in REDIS_URL is neither a plain name nor an address; callers could not be kept from it.');
  }
  return {
    all: () => endpoints,
    note: (address, remotePort) => {
      if (address === undefined || remotePort === undefined) return;
      const host = address.replace(/^::ffff:(?=\d+\.)/, '').replace(/%.*$/, '');
      if (endpoints.some((known) => known.host === host && known.port === remotePort)) return;
      endpoints = [...endpoints, { host, port: remotePort }];
    },
  };
}
