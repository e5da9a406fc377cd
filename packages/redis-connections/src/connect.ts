import type { ConnectionOptions as TlsOptions } from 'node:tls';

import { createBackoff } from '@vantage/timers';
import { Cluster, type Redis, type RedisOptions } from 'ioredis';

import { parseRedisUrl, type RedisAddress } from './address.ts';
import { clusterConnector } from './cluster-connector.ts';
import { nodeConnector } from './node-connector.ts';
import { watchReplies } from './reply-watch.ts';
import { sentinelConnector } from './sentinel/sentinel-connector.ts';
import { TurnRedis } from './turn-redis.ts';
import { keepCommandsYoung } from './young-commands.ts';

keepCommandsYoung();

/** Redis: one server, a set with Sentinels, or a cluster. */
export interface Server {
  /** URL in a form that `parseRedisUrl` accepts. */
  readonly url: string;
  /** Trusted CA certificates in PEM; by default those of Node. */
  readonly certificates?: string | undefined;
  /** Name in `CLIENT LIST`. */
  readonly name: string;
}

/** Options of ioredis without the one that changes the types of replies. */
export type Options = Omit<RedisOptions, 'replyMapping'>;

/** Options of a connection that fails without Redis instead of waiting. */
export type FailFastPolicy = Options & { readonly connectTimeout: number };

/** Interval at which a cluster client reads which server has which slots. */
const SLOTS_EVERY_MS = 2_000;

/**
 * Pause before an attempt to reconnect: 50 ms, doubling up to 300 ms, less up to a quarter at random, so that clients
 * do not reconnect in step.
 */
export const soon = createBackoff({ firstMs: 50, longestMs: 300, jitter: 0.25 });

/** Opens a connection to a server, or a client of a cluster. */
export function openAny(server: Server, policy: FailFastPolicy): Redis {
  const address = parseRedisUrl(server.url);
  if (address.kind === 'cluster') return openCluster(address, policy, server);
  return openConnection({ ...policy, retryStrategy: soon }, server);
}

/**
 * Opens a single connection: with Sentinels to the master, in a cluster to the master of a slot or else to any node.
 */
export function openConnection(policy: Options, given: Server, slot?: number): Redis {
  const address = parseRedisUrl(given.url);
  const tls = tlsOf(address, given.certificates);
  const options: Options = { connectionName: given.name, ...policy, ...(tls === undefined ? {} : { tls }) };
  const redis = openOne(address, options, tls, slot);
  watchReplies(redis);
  leaveOtherDatabase(redis);
  return redis;
}

/**
 * Ends a connection whose database Redis refuses: ioredis would go on in database 0, which may belong to another
 * program. With a ready check, the connection is not ready before that.
 */
function leaveOtherDatabase(redis: Redis): void {
  redis.on('error', (error: Error) => {
    const { command } = error as Error & { readonly command?: { readonly name: string } };
    if (command?.name === 'select') redis.stream.destroy();
  });
}

function openOne(
  address: RedisAddress,
  options: Options,
  tls: TlsOptions | undefined,
  slot: number | undefined,
): Redis {
  if (address.kind === 'single') {
    // The connector of ioredis reads TCP as a stream, which costs more for each reply.
    return new TurnRedis(address.url, tls === undefined ? { ...options, Connector: nodeConnector() } : options);
  }
  const login = loginOf(address);
  if (address.kind === 'cluster') {
    const [{ host, port } = { host: '', port: 0 }] = address.endpoints;
    return new TurnRedis({ ...options, ...login, host, port, Connector: clusterConnector(address, slot, tls) });
  }
  return new TurnRedis({
    ...options,
    ...login,
    Connector: sentinelConnector,
    name: address.set,
    role: 'master',
    updateSentinels: true,
    sentinels: address.endpoints.map(({ host, port }) => ({ host, port })),
    sentinelCommandTimeout: 1_000,
    sentinelRetryStrategy: soon,
    ...(address.sentinelUsername === undefined ? {} : { sentinelUsername: address.sentinelUsername }),
    ...(address.sentinelPassword === undefined ? {} : { sentinelPassword: address.sentinelPassword }),
    ...(tls === undefined ? {} : { sentinelTLS: tls, enableTLSForSentinelMode: true }),
  });
}

function openCluster(
  address: Extract<RedisAddress, { kind: 'cluster' }>,
  policy: FailFastPolicy,
  given: Server,
): Redis {
  const tls = tlsOf(address, given.certificates);
  let cause: Error | undefined;
  const noteCause = (error: Error): void => {
    cause = error;
  };
  const cluster = new Cluster(
    address.endpoints.map(({ host, port }) => ({ host, port })),
    {
      enableOfflineQueue: false,
      clusterRetryStrategy: soon,
      // Off, because the timer of ioredis may go on if the client is closed during a refresh: see `refreshSlots`.
      slotsRefreshInterval: 0,
      // Half of the time, so that after a slow node there is time to query another one.
      slotsRefreshTimeout: policy.connectTimeout / 2,
      maxRedirections: 10,
      redisOptions: {
        ...policy,
        ...loginOf(address),
        connectionName: given.name,
        Connector: nodeConnector(noteCause),
        // Pending commands of a lost node are sent again to the node that the cluster names.
        maxRetriesPerRequest: null,
        ...(tls === undefined ? {} : { tls }),
      },
    },
  );
  // Registered first, so that all later listeners see the cause.
  cluster.on('error', (error: Error) => {
    if ('lastNodeError' in error) error.lastNodeError = cause ?? error.lastNodeError;
  });
  // Connects in advance, so that no command has to wait for the connection.
  cluster.on('+node', (node: Redis) => {
    watchReplies(node);
    if (node.status === 'wait') node.connect().catch(() => undefined);
  });
  refreshSlots(cluster);
  // A cluster client has the commands, states and events of a connection that callers use.
  return cluster as unknown as Redis;
}

/** Finds slots that moved without a redirection, as after a failover. */
function refreshSlots(cluster: Cluster): void {
  const timer = setInterval(() => {
    if (cluster.status === 'ready') cluster.refreshSlotsCache();
  }, SLOTS_EVERY_MS);
  timer.unref();
  cluster.once('end', () => clearInterval(timer));
}

function tlsOf({ tls }: RedisAddress, certificates: string | undefined): TlsOptions | undefined {
  if (!tls) return undefined;
  return certificates === undefined ? {} : { ca: certificates };
}

function loginOf({ username, password }: RedisAddress): Pick<RedisOptions, 'username' | 'password'> {
  return {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
  };
}
