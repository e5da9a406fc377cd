import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';

import { Redis } from 'ioredis';

const ANSWERS_WITHIN_MS = 500;

/**
 * Whether the server of a connection is still the master. Replaced: the Sentinels made another one the master while it stood still
 * or was cut off, and it does not know yet; what it takes is lost when it becomes a replica.
 */
export type Mastership = 'master' | 'replaced' | 'unknown';

/** Asks all Sentinels; the word of one is enough for `replaced`. Without Sentinels there is one master. */
export async function askMastership(connection: Redis): Promise<Mastership> {
  const { sentinels, name } = connection.options;
  if (!isWatched(connection) || typeof name !== 'string') return 'master';
  const own = serverOf(connection);
  if (own === undefined) return 'unknown';
  const named = await Promise.all((sentinels ?? []).map((sentinel) => askMaster(connection, sentinel, name)));
  const answers = named.filter((server) => server !== undefined);
  if (answers.some((server) => server !== own)) return 'replaced';
  return answers.length === 0 ? 'unknown' : 'master';
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
    const [named = '', at] = answer;
    return `${isIP(named) === 0 ? await addressOf(named, Number(at)) : named} ${at}`;
  } catch {
    return undefined;
  } finally {
    sentinel.disconnect();
  }
}

/** Sentinels may tell names of hosts. The address is that which a connection is made to. */
async function addressOf(host: string, port: number): Promise<string | undefined> {
  const socket = connect({ host, port });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(ANSWERS_WITHIN_MS) });
    return socket.remoteAddress?.replace(/^::ffff:/, '');
  } finally {
    socket.destroy();
  }
}
