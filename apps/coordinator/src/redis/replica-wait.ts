import { askMastership, isWatched, masterOf, mastersOf, serverOf, type Mastership } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

import { StoreUnavailable } from './store-errors.ts';
import type { Log } from './log.ts';

export interface ReplicaWaitOptions {
  /** Used for nothing else: a `WAIT` holds up what is sent behind it. */
  readonly connection: Redis;
  /** The connections that checks are written by, the one for new checks first. */
  readonly writers: readonly Redis[];
  /** How many replicas are to have a write; where fewer are connected, those. */
  readonly replicas: number;
  /** Longest wait, milliseconds; below the command timeout of the connection. */
  readonly withinMs: number;
  readonly log: Log;
}

/** Makes sure that what was written outlives the server that took it. */
export interface ReplicaWait {
  /**
   * Resolves when replicas have every write to these keys that was answered before the call. With a server that has no
   * replica connected, at once: there is nothing to wait for. If Sentinels watch it, they are asked whether it is still the master.
   *
   * @throws StoreUnavailable when replicas are connected and do not have it in time, or another server is the master now
   */
  readonly settled: (keys: readonly string[]) => Promise<void>;
  /** Looks how many replicas are connected, and leaves a master that the Sentinels replaced. Never rejects. */
  readonly look: () => Promise<void>;
}

/** Who comes while a wait is under way shares the next one. */
interface Turn {
  readonly running: Promise<number>;
  next: Promise<number> | undefined;
}

const MARKER_MS = 1_000;
const MOVED = 'Another server is the master now';

export function createReplicaWait(options: ReplicaWaitOptions): ReplicaWait {
  const { connection, writers, replicas, withinMs, log } = options;
  const connected = new Map<Redis, number>();
  const turns = new Map<Redis, Turn>();
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

  let asking: Promise<Mastership> | undefined;
  /** Requests that come together ask once. */
  const mastership = async (): Promise<Mastership> => {
    asking ??= askMastership(writers[0]!).finally(() => (asking = undefined));
    return asking;
  };
  /** Only a new connection finds the server that is the master now. */
  const leaveReplaced = async (): Promise<void> => {
    const isAlone = [...connected.values()].every((online) => online === 0);
    if (!isWatched(connection) || !isAlone) return;
    const replaced = serverOf(writers[0]!);
    if ((await mastership()) !== 'replaced') return;
    for (const each of [connection, ...writers]) if (serverOf(each) === replaced) each.disconnect(true);
  };

  const look = async (): Promise<void> => {
    if (replicas === 0) return;
    const masters = mastersOf(connection);
    const counts = await Promise.all(masters.map(count));
    for (const known of connected.keys()) if (!masters.includes(known)) connected.delete(known);
    for (const [index, master] of masters.entries()) connected.set(master, counts[index]!);
    await leaveReplaced();
  };

  /** A write of this connection comes after all that was answered before it, and so does what replicas say of it. */
  const wait = async (master: Redis, key: string, wanted: number): Promise<number> => {
    const [, acknowledged] = await Promise.all([
      master.set(markerOf(key), '1', 'PX', MARKER_MS),
      master.wait(wanted, withinMs),
    ]);
    return acknowledged;
  };

  const takeTurn = (master: Redis, run: () => Promise<number>): Promise<number> => {
    const turn = turns.get(master);
    if (turn === undefined) {
      const running = run().finally(() => turns.delete(master));
      turns.set(master, { running, next: undefined });
      return running;
    }
    turn.next ??= turn.running.then(
      () => takeTurn(master, run),
      () => takeTurn(master, run),
    );
    return turn.next;
  };

  return {
    look,
    settled: async (keys) => {
      if (replicas === 0) return;
      const masters = new Map(keys.map((key) => [masterOf(connection, key), key]));
      await Promise.all(
        [...masters].map(async ([master, key]) => {
          if (master === undefined) throw new StoreUnavailable('A part of the cluster is away');
          if (!connected.has(master)) await look();
          const wanted = Math.min(replicas, connected.get(master) ?? 0);
          // During a fail-over the connections may be to two servers.
          if (isWatched(connection) && serverOf(connection) !== serverOf(writers[0]!))
            throw new StoreUnavailable(MOVED);
          if (wanted === 0) {
            if ((await mastership()) !== 'master') throw new StoreUnavailable(MOVED);
            return;
          }
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
