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
  /** As `parseRedisUrl` reads it. */
  readonly url: string;
  /** Certificates in PEM that a TLS server may present; without them those that Node trusts. */
  readonly certificates?: string | undefined;
  /** Shown by `CLIENT LIST`. */
  readonly name: string;
  readonly log: ConnectionLog;
  /** Aborted when the connection is closed on purpose, which is not worth a line. */
  readonly closing?: AbortSignal;
}

/**
 * A command of a coordinator waits this long for its reply. With `enableOfflineQueue: false` commands
 * fail immediately while Redis is unavailable, instead of waiting.
 */
const COMMAND_TIMEOUT_MS = 1_500;

/** A connection that owes a reply and hears nothing is dead; without this it is never noticed. */
const SOCKET_TIMEOUT_MS = 2_000;

/** An agent's: more than its longest blocking command plus a round trip. */
const PATIENT_SOCKET_TIMEOUT_MS = 5_000;

const ONCE_WITHIN_MS = 10_000;

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

/** For a program that does its work and ends: a short stall of the machine must not fail it. */
const once = { ...failFast, commandTimeout: 5_000, socketTimeout: 6_000, connectTimeout: 5_000 } satisfies Options;

export interface FailFastOptions extends OpenOptions {
  /** Longest wait for a reply, for what must be done though Redis is slow; without it a second and a half. */
  readonly replyWithinMs?: number;
}

/**
 * A connection for requests: it fails fast, and reconnects for as long as it lives. Whether Redis is there yet does not
 * matter. On a cluster it reaches every node.
 */
export function openFailFast({ log, closing, replyWithinMs, ...options }: FailFastOptions): Redis {
  const patience = replyWithinMs === undefined ? {} : { commandTimeout: replyWithinMs, socketTimeout: replyWithinMs };
  const connection = openAny(options, { ...failFast, ...patience });
  logOutages(connection, options.name, log, closing);
  keepConnected(connection);
  return connection;
}

/** As `openFailFast`, for subscriptions. On a cluster it is to any one node: what is published reaches all. */
export function openSubscriber({ log, closing, ...options }: OpenOptions): Redis {
  const address = parseRedisUrl(options.url);
  const connection = open(address, { ...failFast, retryStrategy: soon }, options, undefined);
  logOutages(connection, options.name, log, closing);
  keepConnected(connection);
  return connection;
}

/** With `maxmemory-clients` Redis closes the connection with the most memory: what agents send may wait on a coordinator's. */
function keepConnected(connection: Redis): void {
  const keep = (server: Redis): void => void server.client('NO-EVICT', 'ON').catch(ignore);
  if (isCluster(connection)) connection.on('+node', (node: Redis) => void node.on('ready', () => keep(node)));
  else connection.on('ready', () => keep(connection));
}

/**
 * A connection for a program that does its work and ends: without Redis it fails instead of waiting.
 *
 * @throws why Redis cannot be reached
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
   * True: commands wait out an outage and are sent again after it. False: they are rejected at once, for a caller that
   * keeps them itself.
   */
  readonly resend: boolean;
  /** Any key of those that are used, which all have the same hash tag: on a cluster they are on one node. */
  readonly keyInUse: string;
}

/** An agent's connection: to one server, retried without end, with the few commands that an agent's user may use. */
export function openPatient({ log, closing, resend, keyInUse, ...options }: PatientOptions): Redis {
  const policy = {
    maxRetriesPerRequest: resend ? null : 0,
    socketTimeout: PATIENT_SOCKET_TIMEOUT_MS,
    connectTimeout: PATIENT_SOCKET_TIMEOUT_MS,
    retryStrategy: spread,
    reconnectOnError: isDemoted,
    // HELLO and the name of a connection are commands, too; RESP2 needs neither.
    protocol: 2,
    connectionName: undefined,
    // The ready check is INFO, and setting the client's info is a command too: an agent's user may do neither.
    enableReadyCheck: false,
    disableClientInfo: true,
    enableOfflineQueue: resend,
  } satisfies Options;
  const connection = open(parseRedisUrl(options.url), policy, options, slotOf(keyInUse));
  logOutages(connection, options.name, log, closing);
  return connection;
}

/** Without what would change the types of the answers. */
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
    ...{ ...options, ...login, name: address.set, role: 'master', updateSentinels: true },
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
      slotsRefreshInterval: 2_000,
      // A node that does not tell by then leaves another one its time.
      slotsRefreshTimeout: policy.connectTimeout / 2,
      maxRedirections: 10,
      redisOptions: {
        ...{ ...policy, ...loginOf(address), connectionName: given.name },
        // A node that is lost leaves the pool, and what it owed is asked again where the cluster says, a second long.
        maxRetriesPerRequest: null,
        ...(tls === undefined ? {} : { tls }),
      },
    },
  );
  // It is connected before a command needs it: one that finds no connection yet is tried again a tenth of a second later.
  cluster.on('+node', (node: Redis) => {
    watchReplies(node);
    if (node.status === 'wait') node.connect().catch(ignore);
  });
  // It has the commands, the states and the events of a connection to one server, and its users need no more.
  return cluster as unknown as Redis;
}

/** True for what `openFailFast` gives where Redis is a cluster: commands sent at once go to several servers. */
export function isCluster(redis: Redis): boolean {
  return clusterOf(redis) !== undefined;
}

/** The servers that take writes: the one there is, or the masters of a cluster. */
export function mastersOf(redis: Redis): readonly Redis[] {
  return clusterOf(redis)?.nodes('master') ?? [redis];
}

/** The server that holds a key, or undefined where the cluster does not know it now. */
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

/** A server that is no master any more, or not of this slot: only a new connection finds the one that is. */
function isDemoted(error: Error): boolean {
  return /^(READONLY|MOVED|MASTERDOWN|UNBLOCKED) /.test(error.message);
}

/**
 * 50 ms, doubled up to 300: what a deadline may be late after an outage leaves no room for more. With a jitter that keeps
 * coordinators from returning in step.
 */
const soon = createBackoff({ firstMs: 50, longestMs: 300, jitter: 0.25 });

/** 50 ms doubling to 2 s, the upper half at random: many agents do not come back in step. */
const spread = createBackoff({ firstMs: 50, longestMs: 2_000, jitter: 0.5 });

function ignore(): void {
  // Heard of by another way.
}
