import { isWatched, masterOf, mastersOf, serverOf } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

import { isDenied, storeUnavailable } from '../store.ts';
import { StoreUnavailable } from '../store-errors.ts';
import type { Log } from '../log.ts';
import type { MasterWatch } from './master-watch.ts';
import { shareRuns } from '../turns.ts';

export interface ReplicaWaitOptions {
  /** Dedicated connection unless `replicas` is 0: a `WAIT` blocks the commands after it. */
  readonly connection: Redis;
  /** The connection that writes checks. */
  readonly writer: Redis;
  readonly master: MasterWatch;
  /** Number of replicas that must confirm a write; if fewer are connected, all of them. */
  readonly replicas: number;
  /** Longest wait, milliseconds; must be below the command timeout of the connection. */
  readonly withinMs: number;
  readonly log: Log;
}

/** Waits until replicas have a write, so that it survives a failover. */
export interface ReplicaWait {
  /** The server that receives writes now, as an argument of `settled`; undefined if it is not known. */
  readonly server: () => string | undefined;
  /**
   * Resolves when enough replicas have every write to these keys that was confirmed before the call. Sentinels, if any,
   * must also confirm the server as the master. If `replicas` is 0, it resolves at once. Without `ROLE` and `WAIT`, which
   * a hosted Redis may lack, no replica is waited for.
   *
   * @param server that received the first of these writes
   * @throws StoreUnavailable if connected replicas do not confirm in time, or another server is the master now
   */
  readonly settled: (keys: readonly string[], server: string | undefined) => Promise<void>;
  /** Reads the number of connected replicas. Never rejects. */
  readonly poll: () => Promise<void>;
}

const MARKER_MS = 1_000;

export function createReplicaWait(options: ReplicaWaitOptions): ReplicaWait {
  return new WaitForReplicas(options);
}

class WaitForReplicas implements ReplicaWait {
  private readonly options: ReplicaWaitOptions;
  /** Number of connected replicas, by master. */
  private readonly connected = new Map<Redis, number>();
  private readonly takeTurn = shareRuns<number>();
  private hasWarned = false;

  constructor(options: ReplicaWaitOptions) {
    this.options = options;
  }

  readonly server = (): string | undefined => serverOf(this.options.writer);

  readonly poll = async (): Promise<void> => {
    if (this.options.replicas === 0) return;
    const masters = mastersOf(this.options.connection);
    const counts = await Promise.all(masters.map((master) => this.count(master)));
    for (const known of this.connected.keys()) if (!masters.includes(known)) this.connected.delete(known);
    for (const [index, master] of masters.entries()) this.connected.set(master, counts[index]!);
  };

  readonly settled = async (keys: readonly string[], server: string | undefined): Promise<void> => {
    const { connection, replicas } = this.options;
    if (replicas === 0) return;
    const masters = new Map(keys.map((key) => [masterOf(connection, key), key]));
    await Promise.all([...masters].map(([master, key]) => this.settledOn(master, key, server)));
  };

  private async settledOn(master: Redis | undefined, key: string, server: string | undefined): Promise<void> {
    const { connection, writer, master: watch, replicas } = this.options;
    if (master === undefined) throw new StoreUnavailable('A part of the cluster is away');
    if (!this.connected.has(master)) await this.poll();
    const wanted = Math.min(replicas, this.connected.get(master) ?? 0);
    // During a failover the two connections may lead to different servers.
    if (isWatched(connection) && [connection, writer].some((each) => serverOf(each) !== server)) {
      throw new StoreUnavailable('Another server is the master now');
    }
    if (wanted === 0) return watch.confirm(server);
    await watch.confirmOnce(server);
    const acknowledged = await this.takeTurn(master, () => this.wait(master, key, wanted)).catch((error: unknown) => {
      if (!isDenied(error)) throw storeUnavailable('Redis cannot serve now', error);
      this.warnOnce(error as Error, 'WAIT');
      return wanted;
    });
    if (acknowledged < wanted) throw new StoreUnavailable('No replica has the check in time');
  }

  /** Writes a marker, and waits for replicas that have it: it follows all confirmed writes, so they have those too. */
  private async wait(master: Redis, key: string, wanted: number): Promise<number> {
    const [, acknowledged] = await Promise.all([
      master.set(markerOf(key), '1', 'PX', MARKER_MS),
      master.wait(wanted, this.options.withinMs),
    ]);
    return acknowledged;
  }

  private async count(master: Redis): Promise<number> {
    try {
      const [, , online] = (await master.role()) as readonly unknown[];
      return Array.isArray(online) ? online.length : 0;
    } catch (error) {
      // Without a connection no check is accepted anyway.
      if (isDenied(error)) this.warnOnce(error as Error, 'ROLE');
      return this.connected.get(master) ?? 0;
    }
  }

  private warnOnce({ message }: Error, command: 'ROLE' | 'WAIT'): void {
    if (this.hasWarned) return;
    this.hasWarned = true;
    const text = `replicas are not waited for: Redis does not offer ${command} to the user of the coordinator`;
    this.options.log.warn({ error: message }, text);
  }
}

/** Returns a key in the same slot of a Cluster. */
function markerOf(key: string): string {
  return key.includes('{') ? `${key}:w` : `{${key}}:w`;
}
