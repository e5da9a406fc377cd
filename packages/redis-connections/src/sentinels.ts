import { lookup } from 'node:dns/promises';
import type { Socket } from 'node:net';

import { Redis } from 'ioredis';

const ANSWERS_WITHIN_MS = 500;

/**
 * Tells whether another server took the place of the master that a connection is to: the Sentinels made it one while this one stood
 * still or was cut off, and it does not know yet. What it takes is lost when it becomes a replica.
 *
 * @returns true if a Sentinel names another server or none answers; false without Sentinels
 */
export async function isDeposed(connection: Redis): Promise<boolean> {
  const { sentinels, name } = connection.options;
  if (!isWatched(connection) || typeof name !== 'string') return false;
  const own = serverOf(connection);
  if (own === undefined) return true;
  const named = await Promise.all((sentinels ?? []).map((sentinel) => askMaster(connection, sentinel, name)));
  const answers = named.filter((server) => server !== undefined);
  return answers.length === 0 || answers.some((server) => server !== own);
}

/** True if Sentinels say which server is the master. */
export function isWatched({ options }: Redis): boolean {
  return (options?.sentinels ?? []).length > 0;
}

/** Address and port of the server that a connection is to; undefined while there is none. */
export function serverOf({ stream }: Redis): string | undefined {
  const { remoteAddress, remotePort } = (stream ?? {}) as Partial<Socket>;
  return remoteAddress === undefined ? undefined : `${remoteAddress.replace(/^::ffff:/, '')} ${remotePort}`;
}

async function askMaster(
  { options }: Redis,
  { host, port }: { readonly host?: string; readonly port?: number },
  name: string,
): Promise<string | undefined> {
  const { sentinelUsername, sentinelPassword, sentinelTLS } = options;
  const sentinel = new Redis({
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port }),
    ...(sentinelUsername === undefined ? {} : { username: sentinelUsername }),
    ...(sentinelPassword === undefined ? {} : { password: sentinelPassword }),
    ...(sentinelTLS === undefined ? {} : { tls: sentinelTLS }),
    ...{ connectTimeout: ANSWERS_WITHIN_MS, commandTimeout: ANSWERS_WITHIN_MS, enableReadyCheck: false },
    ...{ maxRetriesPerRequest: 0, retryStrategy: null, disableClientInfo: true },
  });
  sentinel.on('error', () => undefined);
  try {
    const answer = (await sentinel.call('SENTINEL', 'get-master-addr-by-name', name)) as readonly string[] | null;
    if (answer === null) return undefined;
    const { address } = await lookup(answer[0]!);
    return `${address} ${answer[1]}`;
  } catch {
    return undefined;
  } finally {
    sentinel.disconnect();
  }
}
