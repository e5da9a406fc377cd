import { agentUser } from '@vantage/contract';
import { mastersOf } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

/**
 * An agent has three. One whose line breaks off without a sign leaves three behind each time, until Redis finds them dead. In
 * each turn Redis serves up to 16 KiB of commands of each connection: their number decides what others wait.
 */
export const MOST_CONNECTIONS = 12;
/** Of too many, as many of the newest are left: the agent's own are among them, and it makes fewer than the rest in a look. */
const LEFT_CONNECTIONS = 6;

/** Time for a login, seconds. Redis itself lets a connection stay without one. */
const LOGIN_WITHIN_SECONDS = 10;
/** Last commands of a connection that has not logged in; `default` is its user then, as it may be a coordinator's. */
const WITHOUT_LOGIN = /(?:^| )age=(\d+) .*(?:^| )cmd=(?:NULL|auth|hello) user=default(?: |$)/;

const USER = /(?:^| )user=(\S+)/;
const ID = /(?:^| )id=(\d+)/;

/** Bounds the connections of each agent's user, which an ACL cannot. */
export function createConnectionQuota(redis: Redis): {
  /**
   * Ends connections without a login, and the oldest connections of every user that has too many on one server.
   *
   * @returns the probes whose user had too many in the look before as well: no agent makes so many so soon
   */
  readonly enforce: () => Promise<readonly string[]>;
} {
  let before: ReadonlySet<string> = new Set();

  return {
    enforce: async () => {
      const excessive = new Set<string>();
      for (const master of mastersOf(redis)) {
        const lines = (await listConnections(master)).split('\n');
        await Promise.all(withoutLogin(lines).map((id) => end(master, id)));
        for (const [user, ids] of byAgent(lines)) {
          if (ids.length <= MOST_CONNECTIONS) continue;
          excessive.add(user.slice(agentUser('').length));
          const oldest = ids.toSorted((a, b) => a - b).slice(0, -LEFT_CONNECTIONS);
          await Promise.all(oldest.map((id) => end(master, id)));
        }
      }
      const again = [...excessive].filter((probe) => before.has(probe));
      before = excessive;
      return again;
    },
  };
}

function end(master: Redis, id: number): Promise<unknown> {
  return master.call('CLIENT', 'KILL', 'ID', String(id));
}

function withoutLogin(lines: readonly string[]): readonly number[] {
  return lines.flatMap((line) => {
    const age = Number(WITHOUT_LOGIN.exec(line)?.[1] ?? 0);
    return age >= LOGIN_WITHIN_SECONDS ? Number(ID.exec(line)?.[1]) : [];
  });
}

/** Ids of connections by user, of agents alone. */
function byAgent(lines: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const byUser = new Map<string, number[]>();
  for (const line of lines) {
    const [user, id] = [USER.exec(line)?.[1], ID.exec(line)?.[1]];
    if (user?.startsWith(agentUser('')) !== true || id === undefined) continue;
    const ids = byUser.get(user) ?? [];
    ids.push(Number(id));
    byUser.set(user, ids);
  }
  return byUser;
}

async function listConnections(master: Redis): Promise<string> {
  try {
    return String(await master.call('CLIENT', 'LIST', 'TYPE', 'normal'));
  } catch (error) {
    // The operator did not allow it to the coordinator's user.
    if (Error.isError(error) && error.message.startsWith('NOPERM')) return '';
    throw error;
  }
}
