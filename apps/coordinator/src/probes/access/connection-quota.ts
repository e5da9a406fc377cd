import { agentUser } from '@vantage/contract';
import { mastersOf } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

/**
 * An agent has three. An agent whose network breaks without a FIN leaves three behind each time, until Redis detects
 * them. Redis reads up to 16 KiB per connection and event-loop turn, so their number determines the delay of others.
 */
export const MOST_CONNECTIONS = 12;
/**
 * If there are too many, the newest are kept: they include the agent's own, which reconnects less often than this
 * interval.
 */
const LEFT_CONNECTIONS = 6;

/** Login timeout in seconds. Redis has none. */
const LOGIN_WITHIN_SECONDS = 10;
/** Last command of a connection before its login; its user is `default`, as a coordinator's may be. */
const WITHOUT_LOGIN = /(?:^| )age=(\d+) .*(?:^| )cmd=(?:NULL|auth|hello) user=default(?: |$)/;

const USER = /(?:^| )user=(\S+)/;
const ID = /(?:^| )id=(\d+)/;

/** Limits connections per agent user, which an ACL cannot. */
export function createConnectionQuota(redis: Redis): {
  /**
   * Closes connections without a login, and the oldest connections of each user above the limit.
   *
   * @returns probes that exceeded the limit twice in a row, which no agent does
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

/** Connection ids by agent user. */
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
    // The operator has not granted the command to the coordinator's user.
    if (Error.isError(error) && error.message.startsWith('NOPERM')) return '';
    throw error;
  }
}
