import { createBackoff } from '@vantage/timers';
import type { Redis } from 'ioredis';

import { parseRedisUrl } from './address.ts';
import { connectionFault } from './connection-fault.ts';
import { isCluster } from './cluster.ts';
import { openAny, openConnection, soon, type Options, type Server } from './connect.ts';
import { logOutages, type ConnectionLog } from './log-outages.ts';
import { refusalOf } from './refusal.ts';
import { slotOf } from './slot.ts';

export interface OpenOptions extends Server {
  readonly log: ConnectionLog;
  /** Aborted when the connection is closed deliberately, which is not logged. */
  readonly closing?: AbortSignal;
}

/** Reply timeout. With `enableOfflineQueue: false`, commands fail immediately while Redis is unavailable. */
const COMMAND_TIMEOUT_MS = 1_500;

/** Silence after which a connection with a pending reply is dead; TCP alone would notice much later. */
const SOCKET_TIMEOUT_MS = 2_000;

/** Socket timeout of agents, longer than the longest blocking command plus a round trip. */
const PATIENT_SOCKET_TIMEOUT_MS = 5_000;

/**
 * Timeout of an agent's attempt to connect: three round trips of a second, for TCP and TLS. It is short, because an
 * attempt whose packets were lost in a network outage must not keep the agent waiting after it.
 */
const PATIENT_CONNECT_TIMEOUT_MS = 3_000;

const ONCE_WITHIN_MS = 10_000;

/** Least time between two connections that are left because of a reply: a replica may be all that there is. */
const LEAVE_AT_MOST_EVERY_MS = 1_000;

const failFast = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  commandTimeout: COMMAND_TIMEOUT_MS,
  socketTimeout: SOCKET_TIMEOUT_MS,
  connectTimeout: 2_000,
} satisfies Options;

/** For a short-lived program: tolerates a short stall of the machine. */
const once = { ...failFast, commandTimeout: 5_000, socketTimeout: 6_000, connectTimeout: 5_000 } satisfies Options;

export interface FailFastOptions extends OpenOptions {
  /** Reply timeout for commands that must succeed although Redis is slow; default: `COMMAND_TIMEOUT_MS`. */
  readonly replyWithinMs?: number;
}

/**
 * Opens a connection for requests: commands fail fast, and it reconnects indefinitely. Redis may be unavailable at
 * first. On a cluster it reaches every node.
 */
export function openFailFast({ log, closing, replyWithinMs, ...options }: FailFastOptions): Redis {
  const patience = replyWithinMs === undefined ? {} : { commandTimeout: replyWithinMs, socketTimeout: replyWithinMs };
  const connection = openAny(options, { ...failFast, ...patience, reconnectOnError: leaveDemoted() });
  logOutages(connection, options.name, log, closing);
  keepConnected(connection);
  return connection;
}

/** Like `openFailFast`, for subscriptions. On a cluster it uses any node, because messages are broadcast. */
export function openSubscriber({ log, closing, ...options }: OpenOptions): Redis {
  const connection = openConnection({ ...failFast, retryStrategy: soon, reconnectOnError: leaveDemoted() }, options);
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
  redis.once('error', (error: Error) => reject(new Error(connectionFault(error), { cause: error })));
  const timer = setTimeout(() => reject(new Error('Redis does not answer')), ONCE_WITHIN_MS);
  try {
    await promise;
    return redis;
  } catch (error) {
    redis.disconnect();
    const refusal = await refusalOf(parseRedisUrl(options.url));
    throw refusal === undefined ? error : new Error(refusal, { cause: error });
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
    reconnectOnError: leaveDemoted(),
    // HELLO and CLIENT SETNAME need permissions; RESP2 needs neither.
    protocol: 2,
    connectionName: undefined,
    // The ready check runs INFO, and CLIENT SETINFO is a command too; an agent's user may run neither.
    enableReadyCheck: false,
    disableClientInfo: true,
    enableOfflineQueue: resend,
  } satisfies Options;
  const connection = openConnection(policy, options, slotOf(keyInUse));
  logOutages(connection, options.name, log, closing);
  return connection;
}

/**
 * Tells one connection, or those of a Cluster in turn, to leave a server that is no longer the master, or no longer has
 * the slot: a new connection finds the right one. The backoff starts again at each connection, so it does not bound how
 * often.
 */
function leaveDemoted(): (error: Error) => boolean {
  let leftAt = -Infinity;
  return ({ message }) => {
    if (!/^(READONLY|MOVED|MASTERDOWN|UNBLOCKED) /.test(message)) return false;
    const now = performance.now();
    if (now - leftAt < LEAVE_AT_MOST_EVERY_MS) return false;
    leftAt = now;
    return true;
  };
}

/**
 * From 50 ms, doubled up to 2 s; each pause is shortened at random by up to a half, so that agents do not reconnect
 * simultaneously.
 */
const spread = createBackoff({ firstMs: 50, longestMs: 2_000, jitter: 0.5 });

function ignore(): void {
  // Another listener reports errors of a connection, and a failure of CLIENT NO-EVICT has no consequence here.
}
