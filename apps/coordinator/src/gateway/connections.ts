import { HEARTBEAT_TTL_MS, redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { Channels } from '../redis/channels.ts';
import { runScript } from '../redis/scripts.ts';
import { onStore } from '../redis/store.ts';
import type { AgentConnection } from './connection/connection.ts';
import { forgetConnectionScript } from './jobs/job-scripts.ts';

/** The connections of this gateway, and its knowledge of those at other gateways. */
export interface Connections {
  readonly all: () => readonly AgentConnection[];
  readonly of: (probe: string) => readonly AgentConnection[];
  /** The newest connection of a probe at this gateway: only its heartbeat counts. */
  readonly current: (probe: string) => AgentConnection | undefined;
  /** Adds a connection; closes or retires older ones of the same probe, on every gateway. Rejects without Redis. */
  readonly add: (connection: AgentConnection) => Promise<void>;
  readonly remove: (connection: AgentConnection) => Promise<void>;
  /** True if a gateway holds a connection of this instance. */
  readonly isConnected: (probe: string, instance: string) => Promise<boolean>;
  /** True if a gateway holds a connection of another instance. */
  readonly hasOther: (probe: string, instance: string) => Promise<boolean>;
  /** Renews the lease of this gateway. True if Redis had none, as at first or after a stall. */
  readonly beat: () => Promise<boolean>;
  readonly close: () => void;
}

export interface ConnectionsOptions {
  readonly redis: Redis;
  readonly channels: Pick<Channels, 'listen'>;
  /** Name of this gateway. */
  readonly id: string;
}

/** Announcement of a new connection. An instance may be any text. */
const ANNOUNCEMENT = /^(?<probe>\S+) (?<counter>-?\d+) (?<instance>.+)$/s;

export function createConnections(options: ConnectionsOptions): Connections {
  return new GatewayConnections(options);
}

class GatewayConnections implements Connections {
  private readonly redis: Redis;
  private readonly id: string;
  /** Connections by probe, oldest first. */
  private readonly known = new Map<string, readonly AgentConnection[]>();
  /** Ended connections that may still be listed in Redis. */
  private readonly ended = new Set<AgentConnection>();
  readonly close: () => void;

  constructor({ redis, channels, id }: ConnectionsOptions) {
    this.redis = redis;
    this.id = id;
    this.close = channels.listen(redisKeys.agentConnected, (message) => {
      if (message === '') void this.lookForNewer().catch(() => undefined);
      const { probe, counter, instance } = ANNOUNCEMENT.exec(message)?.groups ?? {};
      if (probe !== undefined) this.overtake(probe, Number(counter), instance!);
    });
  }

  readonly all = (): readonly AgentConnection[] => [...this.known.values()].flat();

  readonly of = (probe: string): readonly AgentConnection[] => this.known.get(probe) ?? [];

  readonly current = (probe: string): AgentConnection | undefined => this.of(probe).at(-1);

  readonly add = async (connection: AgentConnection): Promise<void> => {
    const { probe, counter, instance } = connection;
    this.known.set(
      probe,
      [...this.of(probe), connection].toSorted((one, other) => one.counter - other.counter),
    );
    this.overtake(probe, counter, instance);
    await onStore(this.redis, async (ready) => {
      await ready.hset(redisKeys.agentConnections(probe), instance, this.leaseOf(connection));
      await ready.publish(redisKeys.agentConnected, `${probe} ${counter} ${instance}`);
    });
  };

  readonly remove = async (connection: AgentConnection): Promise<void> => {
    const { probe } = connection;
    const left = this.of(probe).filter((other) => other !== connection);
    if (left.length > 0) this.known.set(probe, left);
    else this.known.delete(probe);
    await this.forget(connection);
  };

  readonly isConnected = async (probe: string, instance: string): Promise<boolean> => {
    if (instance === '') return false;
    if (this.of(probe).some((connection) => connection.instance === instance)) return true;
    const value = await onStore(this.redis, (ready) => ready.hget(redisKeys.agentConnections(probe), instance));
    const [gateway = ''] = value?.split(' ') ?? [];
    if (gateway === '' || gateway === this.id) return false;
    return onStore(this.redis, async (ready) => (await ready.exists(redisKeys.gateway(gateway))) === 1);
  };

  readonly hasOther = async (probe: string, instance: string): Promise<boolean> => {
    const connected = await onStore(this.redis, (ready) => ready.hkeys(redisKeys.agentConnections(probe)));
    const others = connected.filter((other) => other !== instance);
    return (await Promise.all(others.map((other) => this.isConnected(probe, other)))).includes(true);
  };

  readonly beat = async (): Promise<boolean> => {
    const before = await onStore(this.redis, (ready) =>
      ready.set(redisKeys.gateway(this.id), '1', 'PX', HEARTBEAT_TTL_MS, 'GET'),
    );
    for (const connection of this.ended) void this.forget(connection).catch(() => undefined);
    return before === null;
  };

  private leaseOf({ counter }: AgentConnection): string {
    return `${this.id} ${counter}`;
  }

  /** Closes older connections of the same instance, and retires those of other instances; only at this gateway. */
  private overtake(probe: string, counter: number, instance: string): void {
    for (const older of this.of(probe)) {
      if (older.counter >= counter) continue;
      if (older.instance === instance) older.socket.close(4409);
      else older.retire();
    }
  }

  private async forget(connection: AgentConnection): Promise<void> {
    const { probe, instance } = connection;
    this.ended.add(connection);
    const keys = [redisKeys.agentConnections(probe)];
    const values = [instance, this.leaseOf(connection)];
    await onStore(this.redis, (ready) => runScript(ready, forgetConnectionScript, keys, values));
    this.ended.delete(connection);
  }

  /** Reads the connections of each probe that is connected here, because announcements may have been lost. */
  private async lookForNewer(): Promise<void> {
    for (const { probe } of this.all()) {
      const connected = await this.redis.hgetall(redisKeys.agentConnections(probe));
      for (const [instance, value] of Object.entries(connected)) {
        this.overtake(probe, Number(value.split(' ')[1]), instance);
      }
    }
  }
}
