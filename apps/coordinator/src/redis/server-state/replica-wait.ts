import { isWatched, masterOf, mastersOf, serverOf } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

import { StoreUnavailable } from '../store-errors.ts';
import type { Log } from '../log.ts';
import type { MasterWatch } from './master-watch.ts';
import { shareRuns } from '../turns.ts';

export interface ReplicaWaitOptions {
  /** Dedicated connection: a `WAIT` blocks the commands after it. */
  readonly connection: Redis;
  /** The connection that writes checks. */
  readonly writer: Redis;
  readonly master: MasterWatch;
  /** Number of replicas that must confirm a write; if fewer are connected, all of them. */
  readonly replicas: number;
  /** Longest wait, milliseconds; below the command timeout of the connection. */
  readonly withinMs: number;
  readonly log: Log;
}

/** Ensures that writes survive a failover. */
export interface ReplicaWait {
  /** The server that receives writes now; argument of `settled`. */
  readonly server: () => string | undefined;
  /**
   * Resolves when enough replicas have every write to these keys that was confirmed before the call; at once if no
   * replica is connected. If Sentinels monitor the server, they must confirm it as the master.
   *
   * @param server that received the first of these writes
   * @throws StoreUnavailable if connected replicas do not confirm in time, or another server is the master now
   */
  readonly settled: (keys: readonly string[], server: string | undefined) => Promise<void>;
  /** Reads the number of connected replicas. Never rejects. */
  readonly look: () => Promise<void>;
}

const MARKER_MS = 1_000;

export function createReplicaWait(options: ReplicaWaitOptions): ReplicaWait {
  const { connection, writer, master: watch, replicas, withinMs, log } = options;
  const connected = new Map<Redis, number>();
  const takeTurn = shareRuns<number>();
  let said = false;

  const count = async (master: Redis): Promise<number> => {
    try {
      const [, , online] = (await master.role()) as readonly unknown[];
      return Array.isArray(online) ? online.length : 0;
    } catch (error) {
      // Without a connection no check is accepted anyway; without permission for the command, the number stays unknown.
      if (!said && Error.isError(error) && error.message.startsWith('NOPERM')) {
        said = true;
        log.warn(
          { error: error.message },
          'replicas are not waited for: the user of the coordinator may not ask for ROLE',
        );
      }
      return connected.get(master) ?? 0;
    }
  };

  const look = async (): Promise<void> => {
    if (replicas === 0) return;
    const masters = mastersOf(connection);
    const counts = await Promise.all(masters.map(count));
    for (const known of connected.keys()) if (!masters.includes(known)) connected.delete(known);
    for (const [index, master] of masters.entries()) connected.set(master, counts[index]!);
  };

  /** A marker write on this connection follows all confirmed writes, so replicas that have it have those too. */
  const wait = async (master: Redis, key: string, wanted: number): Promise<number> => {
    const [, acknowledged] = await Promise.all([
      master.set(markerOf(key), '1', 'PX', MARKER_MS),
      master.wait(wanted, withinMs),
    ]);
    return acknowledged;
  };

  return {
    look,
    server: () => serverOf(writer),
    settled: async (keys, server) => {
      if (replicas === 0) return;
      const masters = new Map(keys.map((key) => [masterOf(connection, key), key]));
      await Promise.all(
        [...masters].map(async ([master, key]) => {
          if (master === undefined) throw new StoreUnavailable('A part of the cluster is away');
          if (!connected.has(master)) await look();
          const wanted = Math.min(replicas, connected.get(master) ?? 0);
          // During a failover the two connections may lead to different servers.
          if (isWatched(connection) && [connection, writer].some((each) => serverOf(each) !== server)) {
            throw new StoreUnavailable('Another server is the master now');
          }
          if (wanted === 0) return watch.confirm(server);
          await watch.confirmOnce(server);
          const acknowledged = await takeTurn(master, () => wait(master, key, wanted)).catch((error: unknown) => {
            throw new StoreUnavailable('Redis cannot serve now', { cause: error });
          });
          if (acknowledged < wanted) throw new StoreUnavailable('No replica has the check in time');
        }),
      );
    },
  };
}

/** A key on the same server of a cluster. */
function markerOf(key: string): string {
  return key.includes('{') ? `${key}:w` : `{${key}}:w`;
}
