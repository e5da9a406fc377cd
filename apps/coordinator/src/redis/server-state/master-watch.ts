import { askSentinels, isWatched, serverOf, type MastershipOf } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

import { StoreUnavailable } from '../store-errors.ts';
import { shareRuns } from '../turns.ts';

/** Keeps to the master that the Sentinels name. Without Sentinels it asks nobody. */
export interface MasterWatch {
  /** Leaves a server that another one took the place of. Never rejects. */
  readonly look: () => Promise<void>;
  /**
   * Asks the Sentinels.
   *
   * @throws StoreUnavailable unless they say that this server is the master
   */
  readonly confirm: (server: string | undefined) => Promise<void>;
  /** As `confirm`, but nobody is asked about the server that was the master when last confirmed. */
  readonly confirmOnce: (server: string | undefined) => Promise<void>;
  /**
   * Reads something that may not be there. Only the master knows what is not: one that was replaced while it stood still has
   * nothing of what was written since.
   *
   * @param redis the connection that `read` uses
   * @throws StoreUnavailable when nothing was found, and the Sentinels do not say that it was the master
   */
  readonly find: <T>(redis: Redis, read: () => Promise<T | undefined>) => Promise<T | undefined>;
}

/**
 * @param first knows where the Sentinels are
 * @param connections all that are to the same master
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
    look: async () => {
      if (!isWatched(first)) return;
      const mastershipOf = await ask();
      // Only a new connection finds the server that is the master now. One that is being made is left alone: ioredis would give it up.
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

/** For one server, and a cluster, whose nodes know by themselves what they are. */
export const soleMaster: MasterWatch = {
  look: async () => undefined,
  confirm: async () => undefined,
  confirmOnce: async () => undefined,
  find: (_, read) => read(),
};
