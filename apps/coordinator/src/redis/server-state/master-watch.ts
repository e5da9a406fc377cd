import { askSentinels, isWatched, serverOf, type MastershipOf } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

import { StoreUnavailable } from '../store-errors.ts';
import { shareRuns } from '../turns.ts';

/** Follows the master that the Sentinels name. Without Sentinels each server counts as a master. */
export interface MasterWatch {
  /** Disconnects from a server that is no longer the master. Never rejects. */
  readonly poll: () => Promise<void>;
  /**
   * Asks the Sentinels.
   *
   * @throws StoreUnavailable if there are Sentinels and they do not name this server as the master
   */
  readonly confirm: (server: string | undefined) => Promise<void>;
  /** Like `confirm`, but without a query if this server is the last that was confirmed. */
  readonly confirmOnce: (server: string | undefined) => Promise<void>;
  /**
   * Reads a value that may be missing. Only the master can prove its absence: a master that was replaced during a stall
   * lacks later writes.
   *
   * @param redis the connection that `read` uses
   * @throws StoreUnavailable if nothing was found and the Sentinels do not confirm the server as the master
   */
  readonly find: <T>(redis: Redis, read: () => Promise<T | undefined>) => Promise<T | undefined>;
}

/**
 * @param first knows the addresses of the Sentinels
 * @param connections all connections to the same master
 */
export function createMasterWatch(first: Redis, connections: () => readonly Redis[]): MasterWatch {
  const share = shareRuns<MastershipOf>();
  const ask = (): Promise<MastershipOf> => share(first, () => askSentinels(first));
  let confirmed: string | undefined;

  const confirm: MasterWatch['confirm'] = async (server) => {
    if (!isWatched(first)) return;
    const mastershipOf = await ask();
    if (mastershipOf(server) !== 'master') throw new StoreUnavailable('Another server may be the master now');
    confirmed = server;
  };

  return {
    poll: async () => {
      if (!isWatched(first)) return;
      const mastershipOf = await ask();
      // Reconnecting finds the current master. Pending connection attempts are left alone, because ioredis would
      // abandon them.
      for (const each of connections()) if (mastershipOf(serverOf(each)) === 'replaced') each.disconnect(true);
    },
    confirm,
    confirmOnce: async (server) => (server === confirmed && server !== undefined ? undefined : confirm(server)),
    find: async (redis, read) => {
      const server = serverOf(redis);
      const found = await read();
      if (found === undefined) await confirm(server);
      return found;
    },
  };
}

/** For tests with a single server, which is always the master. */
export const soleMaster: MasterWatch = {
  poll: async () => undefined,
  confirm: async () => undefined,
  confirmOnce: async () => undefined,
  find: (_, read) => read(),
};
