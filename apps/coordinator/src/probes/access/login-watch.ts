import type { Redis } from 'ioredis';

import { isOpenToAll } from './redis-users.ts';
import { isDenied } from '../../redis/store.ts';

/**
 * Time for which the finding that a server needs no login is cached, because the query costs Redis more than the other
 * commands of a poll. If the server is secured meanwhile, connections without a login last that much longer.
 */
const OPEN_FOR_MS = 10_000;
/**
 * Matches connections of the default user, among them those without a login. The last command does not distinguish
 * them: it may have been refused.
 */
const DEFAULT_USER = /(?:^| )user=default(?: |$)/;
/** Properties that only commands after a login set; each connection of a coordinator has a name. */
const SIGN_OF_LOGIN = /(?:^| )(?:(?:lib-)?name=\S|db=[1-9]|resp=3|flags=\S*b)/;
/** Last commands of a connection that has done nothing yet. */
const NOTHING_DONE = /(?:^| )cmd=(?:NULL|auth|hello) /;

const AGE = /(?:^| )age=(\d+)/;

/** Finds connections without a login. */
export interface LoginWatch {
  /**
   * Lines of the connections that are without a login for too long.
   *
   * @param lines of all connections of the server
   * @throws if Redis does not reply
   */
  readonly overdue: (master: Redis, lines: readonly string[]) => Promise<readonly string[]>;
}

export function createLoginWatch(withinSeconds: number): LoginWatch {
  const openUntilMs = new WeakMap<Redis, number>();

  const isOpen = async (master: Redis): Promise<boolean> => {
    if (performance.now() < (openUntilMs.get(master) ?? 0)) return true;
    const open = !(await needsLogin(master));
    if (open) openUntilMs.set(master, performance.now() + OPEN_FOR_MS);
    return open;
  };

  return {
    overdue: async (master, lines) => {
      const aged = lines.filter((line) => DEFAULT_USER.test(line) && Number(AGE.exec(line)?.[1]) >= withinSeconds);
      const suspects = aged.filter((line) => lacksLogin(line) || doesNothing(line));
      if (suspects.length === 0) return [];
      return suspects.filter((await isOpen(master)) ? doesNothing : lacksLogin);
    },
  };
}

function lacksLogin(line: string): boolean {
  return !SIGN_OF_LOGIN.test(line);
}

/** Replaces `lacksLogin` if connections need no login, or it is not known whether they do. */
function doesNothing(line: string): boolean {
  return NOTHING_DONE.test(line);
}

async function needsLogin(master: Redis): Promise<boolean> {
  try {
    return !(await isOpenToAll(master));
  } catch (error) {
    // The Redis user of the coordinator may not run the command.
    if (isDenied(error)) return false;
    throw error;
  }
}
