import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';

import { Redis } from 'ioredis';

const ANSWERS_WITHIN_MS = 500;

/**
 * Role of a server according to the Sentinels. `replaced`: they promoted another one during a stall or partition, and
 * the server does not know yet; its writes are lost when it becomes a replica, and it lacks those of the new master.
 */
export type Mastership = 'master' | 'replaced' | 'unknown';

/** Looks up a server by its name from `serverOf`. */
export type MastershipOf = (server: string | undefined) => Mastership;

interface Answer {
  readonly server: string;
  /** Increases with each failover; 0 if this Sentinel does not report it. */
  readonly epoch: number;
  readonly flags: readonly string[];
}

/**
 * Asks all Sentinels. A server is the master if a majority names it and sees it up, none knows of a later one, and none
 * is in a failover. Without Sentinels every server is taken for the master.
 */
export async function askSentinels(connection: Redis): Promise<MastershipOf> {
  const { sentinels, name } = connection.options;
  if (!isWatched(connection) || typeof name !== 'string') return () => 'master';
  const asked = sentinels ?? [];
  const replies = await Promise.all(asked.map((sentinel) => askSentinel(connection, sentinel, name)));
  const answers = replies.filter((answer) => answer !== undefined);
  return (server) => evaluate(answers, asked.length, server);
}

function evaluate(answers: readonly Answer[], asked: number, server: string | undefined): Mastership {
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

/** True if Sentinels decide which server is the master. */
export function isWatched({ options }: Redis): boolean {
  return (options?.sentinels ?? []).length > 0;
}

/** Address and port of a connection's server; undefined while disconnected and for a cluster. */
export function serverOf({ status, stream }: Redis): string | undefined {
  // A closed socket remembers its peer address until the next connection.
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
    connectTimeout: ANSWERS_WITHIN_MS,
    commandTimeout: ANSWERS_WITHIN_MS,
    enableReadyCheck: false,
    maxRetriesPerRequest: 0,
    retryStrategy: null,
    disableClientInfo: true,
  });
  sentinel.on('error', () => undefined);
  try {
    const [address, state] = await Promise.all([
      sentinel.call('SENTINEL', 'get-master-addr-by-name', name) as Promise<readonly string[] | null>,
      // The ACL of a Sentinel may forbid this.
      (sentinel.call('SENTINEL', 'MASTER', name) as Promise<readonly string[]>).catch((): readonly string[] => []),
    ]);
    if (address === null) return undefined;
    const [named = '', at] = address;
    const ip = isIP(named) === 0 ? await addressOf(named, Number(at)) : named;
    // Names and values alternate, and the name of a master may be that of a field.
    const field = (wanted: string): string | undefined =>
      state.find((_value, index) => index % 2 === 1 && state[index - 1] === wanted);
    if (state.length === 0) return { server: `${ip} ${at}`, epoch: 0, flags: [] };
    return { server: `${ip} ${at}`, epoch: Number(field('config-epoch')), flags: (field('flags') ?? '').split(',') };
  } catch {
    return undefined;
  } finally {
    sentinel.disconnect();
  }
}

/** Sentinels may report host names, while connections have addresses. */
async function addressOf(host: string, port: number): Promise<string | undefined> {
  const socket = connect({ host, port });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(ANSWERS_WITHIN_MS) });
    return socket.remoteAddress?.replace(/^::ffff:/, '');
  } finally {
    socket.destroy();
  }
}
