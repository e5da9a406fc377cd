import { isWatched, masterOf, mastersOf, serverOf } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

import { StoreUnavailable } from '../store-errors.ts';
import type { Log } from '../log.ts';
import type { MasterWatch } from './master-watch.ts';
import { shareRuns } from '../turns.ts';

export interface ReplicaWaitOptions {
  /** Used for nothing else: a `WAIT` holds up what is sent behind it. */
  readonly connection: Redis;
  /** The connection that checks are written by. */
  readonly writer: Redis;
  readonly master: MasterWatch;
  /** How many replicas are to have a write; where fewer are connected, those. */
  readonly replicas: number;
  /** Longest wait, milliseconds; below the command timeout of the connection. */
  readonly withinMs: number;
  readonly log: Log;
}

/** Makes sure that what was written outlives the server that took it. */
export interface ReplicaWait {
  /** The server that a write goes to now, for `settled`. */
  readonly server: () => string | undefined;
  /**
   * Resolves when replicas have every write to these keys that was answered before the call. With a server that has no
   * replica connected, at once: there is nothing to wait for. If Sentinels watch it, they are asked whether it is the master.
   *
   * @param server where the first of these writes went
   * @throws StoreUnavailable when replicas are connected and do not have it in time, or another server is the master now
   */
  readonly settled: (keys: readonly string[], server: string | undefined) => Promise<void>;
  /** Looks how many replicas are connected. Never rejects. */
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
      // Without a connection nothing is accepted anyway; without the right to ask there is nothing to go by.
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

  /** A write of this connection comes after all that was answered before it, and so does what replicas say of it. */
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
          // During a fail-over the connections may be to two servers.
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

/** A key of the same server. */
function markerOf(key: string): string {
  return key.includes('{') ? `${key}:w` : `{${key}}:w`;
}
