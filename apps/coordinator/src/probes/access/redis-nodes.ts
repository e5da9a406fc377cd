import { isCluster, openOnce, parseRedisUrl } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

import { closeAll } from '../../redis/connections.ts';
import { isDenied } from '../../redis/store.ts';

/** A Redis server, master or replica. */
export interface RedisNode {
  /** `host:port`; `master` for one that the Sentinels name. */
  readonly name: string;
  readonly redis: Redis;
}

export interface RedisNodes {
  /** Connection for reading and writing records. */
  readonly redis: Redis;
  readonly nodes: readonly RedisNode[];
  /** Known but unreachable nodes, with the reason. */
  readonly unreachable: readonly { readonly name: string; readonly why: string }[];
  readonly cluster: boolean;
  /** True if the login may not read Redis users; then `nodes` is empty. */
  readonly limited: boolean;
  readonly close: () => Promise<void>;
}

export interface RedisNodesOptions {
  readonly url: string;
  /** Nodes listed by the operator; if empty, they are discovered. */
  readonly listed: readonly string[];
  readonly certificates: string | undefined;
}

const NAME = 'vantage:probe-admin';

/** @throws if Redis is unreachable, or if its nodes must be discovered and it is a replica */
export async function openRedisNodes({ url, listed, certificates }: RedisNodesOptions): Promise<RedisNodes> {
  const redis = await openOnce({ url, certificates, name: NAME });
  const cluster = isCluster(redis);
  try {
    if (!(await mayReadUsers(redis))) {
      return { redis, nodes: [], cluster, limited: true, unreachable: [], close: () => closeAll([redis]) };
    }
    const opened =
      listed.length > 0
        ? await openAll(listed, certificates)
        : cluster
          ? await nodesOfCluster(redis, url, certificates)
          : await nodesOfMaster(redis, url, certificates);
    const nodes = opened.flatMap((node) => ('redis' in node ? [node] : []));
    return {
      redis,
      nodes,
      cluster,
      limited: false,
      unreachable: opened.flatMap((node) => ('why' in node ? [node] : [])),
      close: () => closeAll([redis, ...nodes.map((node) => node.redis)]),
    };
  } catch (error) {
    redis.disconnect();
    throw error;
  }
}

async function mayReadUsers(redis: Redis): Promise<boolean> {
  try {
    await redis.call('ACL', 'GETUSER', 'default');
    return true;
  } catch (error) {
    if (isDenied(error)) return false;
    throw error;
  }
}

/** The nodes that accept writes. */
export async function mastersAmong(nodes: readonly RedisNode[]): Promise<readonly Redis[]> {
  const roles = await Promise.all(nodes.map(({ redis }) => redis.call('ROLE') as Promise<readonly unknown[]>));
  return nodes.flatMap(({ redis }, index) => (roles[index]?.[0] === 'master' ? [redis] : []));
}

type Opened = RedisNode | { readonly name: string; readonly why: string };

function openAll(urls: readonly string[], certificates: string | undefined): Promise<readonly Opened[]> {
  return Promise.all(
    urls.map(async (url): Promise<Opened> => {
      const [{ host, port } = { host: '', port: 0 }] = parseRedisUrl(url).endpoints;
      const name = `${host}:${port}`;
      try {
        return { name, redis: await openOnce({ url, certificates, name: NAME }) };
      } catch (error) {
        return { name, why: Error.isError(error) ? error.message : String(error) };
      }
    }),
  );
}

/** Opens separate connections: those of the cluster client change with its view of the cluster. */
async function nodesOfCluster(redis: Redis, url: string, certificates: string | undefined): Promise<readonly Opened[]> {
  const table = String(await redis.call('CLUSTER', 'NODES'));
  const places = table.split('\n').flatMap((line) => {
    const [, place = '', flags = ''] = line.split(' ');
    // `host:port@busport,name`. Flags mark a node without a known address, and one that is not yet in the cluster.
    const [, host, port] = /^(.+):(\d+)@/.exec(place) ?? [];
    return host === undefined || port === undefined || /handshake|noaddr/.test(flags) ? [] : [{ host, port }];
  });
  return openAll(
    places.map(({ host, port }) => urlOf(url, host, port)),
    certificates,
  );
}

async function nodesOfMaster(redis: Redis, url: string, certificates: string | undefined): Promise<readonly Opened[]> {
  const [role, , third] = (await redis.call('ROLE')) as readonly unknown[];
  if (role !== 'master') throw new Error('REDIS_URL names a replica; name its master, or list all in REDIS_NODES');
  const { endpoints, kind } = parseRedisUrl(url);
  const replicas = third as readonly (readonly string[])[];
  const others = await openAll(
    replicas.map(([host = '', port = '']) => urlOf(url, host, port)),
    certificates,
  );
  const [{ host, port } = { host: '', port: 0 }] = endpoints;
  const own = await openOnce({ url, certificates, name: NAME });
  return [{ name: kind === 'single' ? `${host}:${port}` : 'master', redis: own }, ...others];
}

/** URL of another server of the same Redis, with the same login and TLS. */
function urlOf(url: string, host: string, port: string): string {
  const { username, password, tls } = parseRedisUrl(url);
  const login = password === undefined ? '' : `${encodeURIComponent(username ?? '')}:${encodeURIComponent(password)}@`;
  return `redis${tls ? 's' : ''}://${login}${host.includes(':') ? `[${host}]` : host}:${port}`;
}
