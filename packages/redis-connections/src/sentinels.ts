import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';

import { Redis } from 'ioredis';

const ANSWERS_WITHIN_MS = 500;

/**
 * Whether a server is the master. Replaced: the Sentinels made another one the master while it stood still or was cut off, and it
 * does not know yet; what it takes is lost when it becomes a replica, and it has nothing of what the other one took.
 */
export type Mastership = 'master' | 'replaced' | 'unknown';

/** Says it of a server as `serverOf` names it. */
export type MastershipOf = (server: string | undefined) => Mastership;

interface Answer {
  readonly server: string;
  /** Rises with each fail-over; 0 if this Sentinel does not tell. */
  readonly epoch: number;
  readonly flags: readonly string[];
}

/**
 * Asks all Sentinels. A server is the master if most of them name it and see it well, none knows of a later one, and none is at a
 * fail-over: two servers are never the master for two who ask. Without Sentinels there is one master.
 */
export async function askSentinels(connection: Redis): Promise<MastershipOf> {
  const { sentinels, name } = connection.options;
  if (!isWatched(connection) || typeof name !== 'string') return () => 'master';
  const asked = sentinels ?? [];
  const replies = await Promise.all(asked.map((sentinel) => askSentinel(connection, sentinel, name)));
  const answers = replies.filter((answer) => answer !== undefined);
  return (server) => judge(answers, asked.length, server);
}

function judge(answers: readonly Answer[], asked: number, server: string | undefined): Mastership {
  if (server === undefined || answers.length === 0) return 'unknown';
  const [own, others] = [answers.filter(names), answers.filter((answer) => !names(answer))];
  if (others.length > 0 && latest(others) >= latest(own)) return 'replaced';
  if (answers.some(({ flags }) => flags.includes('failover_in_progress'))) return 'unknown';
  const isWell = ({ flags }: Answer): boolean => flags.every((flag) => flag === 'master');
  return own.filter(isWell).length > asked / 2 ? 'master' : 'unknown';

  function names(answer: Answer): boolean {
    return answer.server === server;
  }
}

function latest(answers: readonly Answer[]): number {
  return Math.max(-1, ...answers.map(({ epoch }) => epoch));
}

/** True if Sentinels say which server is the master. */
export function isWatched({ options }: Redis): boolean {
  return (options?.sentinels ?? []).length > 0;
}

/** Address and port of the server that a connection is to; undefined while there is none, and for a cluster, which is several. */
export function serverOf({ status, stream }: Redis): string | undefined {
  // A socket remembers the address of its peer when it is gone, and the connection keeps it until it has the next one.
  if (status !== 'ready') return undefined;
  const { remoteAddress, remotePort } = (stream as Partial<Socket> | undefined) ?? {};
  return remoteAddress === undefined ? undefined : `${remoteAddress.replace(/^::ffff:/, '')} ${remotePort}`;
}

async function askSentinel(
  { options }: Redis,
  { host, port }: { readonly host?: string; readonly port?: number },
  name: string,
): Promise<Answer | undefined> {
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
    const [address, state] = await Promise.all([
      sentinel.call('SENTINEL', 'get-master-addr-by-name', name) as Promise<readonly string[] | null>,
      // A user of a Sentinel may be denied this.
      (sentinel.call('SENTINEL', 'MASTER', name) as Promise<readonly string[]>).catch((): readonly string[] => []),
    ]);
    if (address === null) return undefined;
    const [named = '', at] = address;
    const ip = isIP(named) === 0 ? await addressOf(named, Number(at)) : named;
    const field = (wanted: string): string | undefined => state[state.indexOf(wanted) + 1];
    if (state.length === 0) return { server: `${ip} ${at}`, epoch: 0, flags: [] };
    return { server: `${ip} ${at}`, epoch: Number(field('config-epoch')), flags: (field('flags') ?? '').split(',') };
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
