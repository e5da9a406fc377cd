import { HEARTBEAT_TTL_MS, redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { Channels } from '../redis/channels.ts';
import { runScript } from '../redis/scripts.ts';
import { onStore } from '../redis/store.ts';
import type { AgentConnection } from './connection.ts';
import { forgetConnectionScript } from './jobs/job-scripts.ts';

/** The connections of this gateway, and its knowledge of those at other gateways. */
export interface Connections {
  readonly all: () => readonly AgentConnection[];
  readonly of: (probe: string) => readonly AgentConnection[];
  /** The newest connection of a probe: only its heartbeat counts. */
  readonly current: (probe: string) => AgentConnection | undefined;
  /** Adds a connection and ends older ones of the same probe, on every gateway. Rejects without Redis. */
  readonly add: (connection: AgentConnection) => Promise<void>;
  readonly remove: (connection: AgentConnection) => Promise<void>;
  /** True if a gateway holds a connection of this instance. */
  readonly isConnected: (probe: string, instance: string) => Promise<boolean>;
  /** True if a gateway holds a connection of another instance. */
  readonly hasOther: (probe: string, instance: string) => Promise<boolean>;
  /** Renews the lease of this gateway. True if Redis had none: it lost its data, or this process stalled. */
  readonly beat: () => Promise<boolean>;
  readonly close: () => void;
}

export interface ConnectionsOptions {
  readonly redis: Redis;
  readonly channels: Pick<Channels, 'listen'>;
  /** Name of this gateway. */
  readonly id: string;
}

export function createConnections({ redis, channels, id }: ConnectionsOptions): Connections {
  /** Oldest first. */
  const known = new Map<string, readonly AgentConnection[]>();
  /** Ended connections that are still listed in Redis, because it was unavailable. */
  const ended = new Set<AgentConnection>();
  const of = (probe: string): readonly AgentConnection[] => known.get(probe) ?? [];
  const all = (): readonly AgentConnection[] => [...known.values()].flat();
  const valueOf = ({ counter }: AgentConnection): string => `${id} ${counter}`;

  /** Ends connections older than this one. An older one of the same instance has been given up by its agent. */
  const overtake = (probe: string, counter: number, instance: string): void => {
    for (const older of of(probe)) {
      if (older.counter >= counter) continue;
      if (older.instance === instance) older.socket.close(4409);
      else older.retire();
    }
  };
  const forget = async (connection: AgentConnection): Promise<void> => {
    const { probe, instance } = connection;
    ended.add(connection);
    const keys = [redisKeys.agentConnections(probe)];
    await onStore(redis, (ready) => runScript(ready, forgetConnectionScript, keys, [instance, valueOf(connection)]));
    ended.delete(connection);
  };
  const isConnected: Connections['isConnected'] = async (probe, instance) => {
    if (instance === '') return false;
    if (of(probe).some((connection) => connection.instance === instance)) return true;
    const value = await onStore(redis, (ready) => ready.hget(redisKeys.agentConnections(probe), instance));
    const [gateway = ''] = value?.split(' ') ?? [];
    if (gateway === '' || gateway === id) return false;
    return onStore(redis, async (ready) => (await ready.exists(redisKeys.gateway(gateway))) === 1);
  };
  const beat = async (): Promise<boolean> => {
    const before = await onStore(redis, (ready) =>
      ready.set(redisKeys.gateway(id), '1', 'PX', HEARTBEAT_TTL_MS, 'GET'),
    );
    for (const connection of ended) void forget(connection).catch(() => undefined);
    return before === null;
  };
  /** Announcements may have been lost with the connection to Redis. */
  const lookForNewer = async (): Promise<void> => {
    for (const { probe } of all()) {
      const connected = await redis.hgetall(redisKeys.agentConnections(probe));
      for (const [instance, value] of Object.entries(connected)) overtake(probe, Number(value.split(' ')[1]), instance);
    }
  };
  const stopListening = channels.listen(redisKeys.agentConnected, (message) => {
    const [probe = '', counter, instance = ''] = message.split(' ');
    if (message === '') void lookForNewer().catch(() => undefined);
    else overtake(probe, Number(counter), instance);
  });

  return {
    all,
    of,
    current: (probe) => of(probe).at(-1),
    add: async (connection) => {
      const { probe, counter, instance } = connection;
      known.set(
        probe,
        [...of(probe), connection].toSorted((one, other) => one.counter - other.counter),
      );
      overtake(probe, counter, instance);
      await onStore(redis, async (ready) => {
        await ready.hset(redisKeys.agentConnections(probe), instance, valueOf(connection));
        await ready.publish(redisKeys.agentConnected, `${probe} ${counter} ${instance}`);
      });
    },
    remove: async (connection) => {
      const { probe } = connection;
      const left = of(probe).filter((other) => other !== connection);
      if (left.length > 0) known.set(probe, left);
      else known.delete(probe);
      await forget(connection);
    },
    isConnected,
    hasOther: async (probe, instance) => {
      const connected = await onStore(redis, (ready) => ready.hkeys(redisKeys.agentConnections(probe)));
      const others = connected.filter((other) => other !== instance);
      return (await Promise.all(others.map((other) => isConnected(probe, other)))).includes(true);
    },
    beat,
    close: stopListening,
  };
}
