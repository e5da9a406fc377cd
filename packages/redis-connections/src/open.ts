import type { ConnectionOptions as TlsOptions } from 'node:tls';

import { createBackoff } from '@vantage/timers';
import { Cluster, type Redis, type RedisOptions } from 'ioredis';

import { parseRedisUrl, type RedisAddress } from './address.ts';
import { clusterConnector } from './cluster-connector.ts';
import { logOutages, type ConnectionLog } from './log-outages.ts';
import { watchReplies } from './reply-watch.ts';
import { slotOf } from './slot.ts';
import { TurnRedis } from './turn-redis.ts';

export interface OpenOptions {
  /** URL in a form that `parseRedisUrl` accepts. */
  readonly url: string;
  /** Trusted CA certificates in PEM; by default those of Node. */
  readonly certificates?: string | undefined;
  /** Name in `CLIENT LIST`. */
  readonly name: string;
  readonly log: ConnectionLog;
  /** Aborted when the connection is closed deliberately, which is not logged. */
  readonly closing?: AbortSignal;
}

/**
 * Reply timeout of coordinators. With `enableOfflineQueue: false`, commands fail immediately while Redis is
 * unavailable.
 */
const COMMAND_TIMEOUT_MS = 1_500;

/** Silence after which a connection with a pending reply is dead; TCP alone would not notice. */
const SOCKET_TIMEOUT_MS = 2_000;

/** Socket timeout of agents, longer than the longest blocking command plus a round trip. */
const PATIENT_SOCKET_TIMEOUT_MS = 5_000;

/**
 * For agents: three round trips of a second, for TCP and TLS. After it the next attempt follows at once: an attempt whose packets
 * were lost while the network was away must not keep an agent waiting once it is back.
 */
const PATIENT_CONNECT_TIMEOUT_MS = 3_000;

const ONCE_WITHIN_MS = 10_000;

const SLOTS_EVERY_MS = 2_000;

const failFast = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  commandTimeout: COMMAND_TIMEOUT_MS,
  socketTimeout: SOCKET_TIMEOUT_MS,
  connectTimeout: 2_000,
  reconnectOnError: isDemoted,
} satisfies Options;

/** For a short-lived program: tolerates a short stall of the machine. */
const once = { ...failFast, commandTimeout: 5_000, socketTimeout: 6_000, connectTimeout: 5_000 } satisfies Options;

export interface FailFastOptions extends OpenOptions {
  /** Reply timeout for commands that must succeed although Redis is slow; default 1.5 s. */
  readonly replyWithinMs?: number;
}

/**
 * Opens a connection for requests: commands fail fast, and it reconnects indefinitely. Redis may be unavailable at
 * first. On a cluster it reaches every node.
 */
export function openFailFast({ log, closing, replyWithinMs, ...options }: FailFastOptions): Redis {
  const patience = replyWithinMs === undefined ? {} : { commandTimeout: replyWithinMs, socketTimeout: replyWithinMs };
  const connection = openAny(options, { ...failFast, ...patience });
  logOutages(connection, options.name, log, closing);
  keepConnected(connection);
  return connection;
}

/** Like `openFailFast`, for subscriptions. On a cluster it uses any node, because messages are broadcast. */
export function openSubscriber({ log, closing, ...options }: OpenOptions): Redis {
  const address = parseRedisUrl(options.url);
  const connection = open(address, { ...failFast, retryStrategy: soon }, options, undefined);
  logOutages(connection, options.name, log, closing);
  keepConnected(connection);
  return connection;
}

/**
 * Exempts a connection from `maxmemory-clients`, by which Redis closes the connection that uses most memory: that of a
 * coordinator may buffer the results of agents.
 */
function keepConnected(connection: Redis): void {
  const keep = (server: Redis): void => void server.client('NO-EVICT', 'ON').catch(ignore);
  if (isCluster(connection)) connection.on('+node', (node: Redis) => void node.on('ready', () => keep(node)));
  else connection.on('ready', () => keep(connection));
}

/**
 * Opens a connection for a short-lived program: fails without Redis instead of waiting.
 *
 * @throws why Redis is unreachable
 */
export async function openOnce(options: Omit<OpenOptions, 'log'>): Promise<Redis> {
  const redis = openAny(options, once);
  redis.on('error', ignore);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  redis.once('ready', resolve);
  redis.once('error', reject);
  const timer = setTimeout(() => reject(new Error('Redis does not answer')), ONCE_WITHIN_MS);
  try {
    await promise;
    return redis;
  } catch (error) {
    redis.disconnect();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

export interface PatientOptions extends OpenOptions {
  /**
   * True: commands wait during an outage and are sent again. False: they are rejected at once, and the caller repeats
   * them.
   */
  readonly resend: boolean;
  /** One of the keys in use; all have the same hash tag, hence the same node of a cluster. */
  readonly keyInUse: string;
}

/**
 * Opens an agent's connection: to one server, retried indefinitely, restricted to the commands that an agent's user may
 * run.
 */
export function openPatient({ log, closing, resend, keyInUse, ...options }: PatientOptions): Redis {
  const policy = {
    maxRetriesPerRequest: resend ? null : 0,
    socketTimeout: PATIENT_SOCKET_TIMEOUT_MS,
    connectTimeout: PATIENT_CONNECT_TIMEOUT_MS,
    retryStrategy: spread,
    reconnectOnError: isDemoted,
    // HELLO and CLIENT SETNAME need permissions; RESP2 needs neither.
    protocol: 2,
    connectionName: undefined,
    // The ready check runs INFO, and CLIENT SETINFO is a command too; an agent's user may run neither.
    enableReadyCheck: false,
    disableClientInfo: true,
    enableOfflineQueue: resend,
  } satisfies Options;
  const connection = open(parseRedisUrl(options.url), policy, options, slotOf(keyInUse));
  logOutages(connection, options.name, log, closing);
  return connection;
}

/** Options of ioredis without the one that changes the types of replies. */
type Options = Omit<RedisOptions, 'replyMapping'>;

type Given = Pick<OpenOptions, 'certificates' | 'name'>;

function openAny(options: Given & Pick<OpenOptions, 'url'>, policy: typeof failFast | typeof once): Redis {
  const address = parseRedisUrl(options.url);
  if (address.kind === 'cluster') return openCluster(address, policy, options);
  return open(address, { ...policy, retryStrategy: soon }, options);
}

function open(address: RedisAddress, policy: Options, given: Given, slot?: number): Redis {
  const tls = tlsOf(address, given.certificates);
  const options: Options = { connectionName: given.name, ...policy, ...(tls === undefined ? {} : { tls }) };
  const redis = openOne(address, options, tls, slot);
  watchReplies(redis);
  return redis;
}

function openOne(
  address: RedisAddress,
  options: Options,
  tls: TlsOptions | undefined,
  slot: number | undefined,
): Redis {
  if (address.kind === 'single') return new TurnRedis(address.url, options);
  const login = loginOf(address);
  if (address.kind === 'cluster') {
    const [{ host, port } = { host: '', port: 0 }] = address.endpoints;
    return new TurnRedis({ ...options, ...login, host, port, Connector: clusterConnector(address, slot, tls) });
  }
  return new TurnRedis({
    ...options,
    ...login,
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
  policy: typeof failFast | typeof once,
  given: Given,
): Redis {
  const tls = tlsOf(address, given.certificates);
  const cluster = new Cluster(
    address.endpoints.map(({ host, port }) => ({ host, port })),
    {
      enableOfflineQueue: false,
      clusterRetryStrategy: soon,
      // The timer of ioredis never stops if the client is closed during a refresh: `refreshSlots`.
      slotsRefreshInterval: 0,
      // A slow node leaves time to query another one.
      slotsRefreshTimeout: policy.connectTimeout / 2,
      maxRedirections: 10,
      redisOptions: {
        ...policy,
        ...loginOf(address),
        connectionName: given.name,
        // Pending commands of a lost node are sent again to the node that the cluster names, for one second.
        maxRetriesPerRequest: null,
        ...(tls === undefined ? {} : { tls }),
      },
    },
  );
  // Connects in advance: a command without a connection would be retried after 100 ms.
  cluster.on('+node', (node: Redis) => {
    watchReplies(node);
    if (node.status === 'wait') node.connect().catch(ignore);
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

/** True if `openFailFast` opened a cluster client: concurrent commands may go to different servers. */
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

/** The server is no longer master, or no longer has the slot: a new connection finds the right one. */
function isDemoted(error: Error): boolean {
  return /^(READONLY|MOVED|MASTERDOWN|UNBLOCKED) /.test(error.message);
}

/**
 * 50 ms doubling up to 300 ms: the delay of deadlines after an outage allows no more. Jitter prevents coordinators from
 * reconnecting in step.
 */
const soon = createBackoff({ firstMs: 50, longestMs: 300, jitter: 0.25 });

/** 50 ms doubling up to 2 s, the upper half random: agents do not reconnect in step. */
const spread = createBackoff({ firstMs: 50, longestMs: 2_000, jitter: 0.5 });

function ignore(): void {
  // Errors are reported by another event.
}
