import { agentUser } from '@vantage/contract';
import { mastersOf } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

import { hasLongName, refusedUser, sendsLargeRequests } from './large-requests.ts';
import { createLoginWatch } from './login-watch.ts';
import { isDenied } from '../../redis/store.ts';

/**
 * Most connections of an agent's user on one server, enough for the two agents that run during an upgrade. If there are
 * more, the oldest are closed: those left over after a network failure are older than the ones in use.
 */
export const MOST_CONNECTIONS = 6;
/** Number of connections beyond which a poll counts more (`STRIKES`). */
const FAR_TOO_MANY = 2 * MOST_CONNECTIONS;
/**
 * Points per poll, and for a suspension: for example two polls in a row with far too many connections, or six with too
 * many.
 */
const STRIKES = { tooMany: 1, farTooMany: 3, suspended: 6 };

/** Time for a login, seconds. Redis itself lets a connection stay without one. */
const LOGIN_WITHIN_SECONDS = 10;
const USER = /(?:^| )user=(\S+)/;
const ADDRESS = /(?:^| )addr=(\S+)/;
const ID = /(?:^| )id=(\d+)/;

/**
 * Large requests at two polls within this time suspend a user; the polls need not be consecutive, because each sees one
 * moment only.
 */
const AGAIN_WITHIN_MS = 10_000;
/**
 * Number of consecutive polls without a readable list of connections after which the connections of all agents are
 * ended.
 */
const UNREADABLE_POLLS = 2;

/** Probes whose Redis users behave unlike any agent, and the users of all connections. */
export interface ConnectionExcess {
  /**
   * Probes whose users had too many connections in several polls (`STRIKES`), although each poll closed some, or far
   * too many while the connections could not be listed.
   */
  readonly tooMany: readonly string[];
  /** Probes whose user has a connection with an overlong name, or had large requests at two polls. */
  readonly tooLarge: readonly string[];
  /** Redis users of all connections, including ordinary ones, by address; empty if they could not be listed. */
  readonly users: ReadonlyMap<string, string>;
}

/** Bounds the connections of each agent's user, which an ACL cannot. */
export function createConnectionQuota(
  redis: Redis,
  loginWithinSeconds = LOGIN_WITHIN_SECONDS,
): {
  /**
   * Ends connections without a login, and the oldest of each agent's user that has too many on one server. After
   * several polls in a row in which a list could not be read, ends the connections of all agents instead.
   */
  readonly enforce: () => Promise<ConnectionExcess>;
} {
  let strikes: ReadonlyMap<string, number> = new Map();
  const largeAt = new Map<string, number>();
  const logins = createLoginWatch(loginWithinSeconds);
  let unreadable = 0;

  return {
    enforce: async () => {
      const masters = mastersOf(redis);
      if (unreadable >= UNREADABLE_POLLS) {
        const counts = await Promise.all(masters.map(endOfAgents));
        unreadable = 0;
        return {
          tooMany: counts.flat().flatMap(([user, count]) => (count > FAR_TOO_MANY ? [probeOf(user)] : [])),
          tooLarge: [],
          users: new Map(),
        };
      }
      const [excessive, large, named] = [new Map<string, number>(), new Set<string>(), new Set<string>()];
      const users = new Map<string, string>();
      for (const master of masters) {
        unreadable += 1;
        const lines = (await listConnections(master)).split('\n');
        unreadable = 0;
        const overdue = await logins.overdue(master, lines);
        await Promise.all(overdue.map((line) => end(master, Number(ID.exec(line)?.[1]))));
        for (const line of lines) users.set(ADDRESS.exec(line)?.[1] ?? '', USER.exec(line)?.[1] ?? '');
        const refused = once(() => refusedUser(master));
        for (const [user, own] of byAgent(lines)) {
          const ownLines = own.map(({ line }) => line);
          if (ownLines.some(hasLongName)) named.add(probeOf(user));
          if (await sendsLargeRequests(ownLines, user, refused)) large.add(probeOf(user));
          if (own.length <= MOST_CONNECTIONS) continue;
          const strike = own.length > FAR_TOO_MANY ? STRIKES.farTooMany : STRIKES.tooMany;
          excessive.set(probeOf(user), (strikes.get(probeOf(user)) ?? 0) + strike);
          const oldest = own.map(({ id }) => id).toSorted((a, b) => a - b);
          await Promise.all(oldest.slice(0, -MOST_CONNECTIONS).map((id) => end(master, id)));
        }
      }
      const tooMany = [...excessive].flatMap(([probe, count]) => (count >= STRIKES.suspended ? [probe] : []));
      strikes = excessive;
      const nowMs = performance.now();
      const tooLarge = [...large].filter((probe) => nowMs - (largeAt.get(probe) ?? -Infinity) <= AGAIN_WITHIN_MS);
      for (const probe of large) largeAt.set(probe, nowMs);
      return { tooMany, tooLarge: [...new Set([...tooLarge, ...named])], users };
    },
  };
}

function once<T>(call: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => (result ??= call());
}

function probeOf(user: string): string {
  return user.slice(agentUser('').length);
}

/**
 * Ends the connections of all agents. The reply for each is a number, however long the names of the connections are.
 *
 * @returns the number of ended connections of each user
 */
async function endOfAgents(master: Redis): Promise<readonly (readonly [string, number])[]> {
  try {
    const users = (await master.call('ACL', 'USERS')) as readonly string[];
    const agents = users.filter((user) => user.startsWith(agentUser('')));
    return await Promise.all(
      agents.map(async (user) => [user, Number(await master.call('CLIENT', 'KILL', 'USER', user))] as const),
    );
  } catch (error) {
    if (isDenied(error)) return [];
    throw error;
  }
}

function end(master: Redis, id: number): Promise<unknown> {
  return master.call('CLIENT', 'KILL', 'ID', String(id));
}

/** Connections of agents by their Redis user. */
function byAgent(lines: readonly string[]): ReadonlyMap<string, readonly { id: number; line: string }[]> {
  const byUser = new Map<string, { id: number; line: string }[]>();
  for (const line of lines) {
    const [user, id] = [USER.exec(line)?.[1], ID.exec(line)?.[1]];
    if (user?.startsWith(agentUser('')) !== true || id === undefined) continue;
    const own = byUser.get(user) ?? [];
    own.push({ id: Number(id), line });
    byUser.set(user, own);
  }
  return byUser;
}

async function listConnections(master: Redis): Promise<string> {
  try {
    return String(await master.call('CLIENT', 'LIST', 'TYPE', 'normal'));
  } catch (error) {
    // The Redis user of the coordinator may not run the command.
    if (isDenied(error)) return '';
    throw error;
  }
}
