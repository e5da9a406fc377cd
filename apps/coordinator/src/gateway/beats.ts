import {
  GATEWAY_HEARTBEAT_TTL_MS,
  HEARTBEAT_NOTIFICATION,
  HEARTBEAT_TTL_MS,
  redisKeys,
  type Heartbeat,
} from '@vantage/contract';
import type { Redis } from 'ioredis';

import { runScript } from '../redis/scripts.ts';
import { onStore } from '../redis/store.ts';
import type { AgentConnection } from './connection.ts';
import type { Connections } from './connections.ts';
import { MAX_READ_BYTES, removeHeartbeatScript, writeHeartbeatScript } from './heartbeat-scripts.ts';

/** The heartbeats of a gateway's agents: written on change; they expire with the lease of the gateway. */
export interface Beats {
  /** Writes the heartbeat of a probe if it has changed. */
  readonly beat: (probe: string) => void;
  /** Examines all heartbeats; to be called every two seconds. */
  readonly beatAll: () => void;
  /** Writes all heartbeats again, because Redis may have lost some. */
  readonly rewriteAll: () => void;
  /** Removes the heartbeat of a connection that may not work any more: its probe is offline at once. */
  readonly remove: (connection: AgentConnection) => void;
  /** Call when a connection has ended. */
  readonly ended: (connection: AgentConnection) => void;
}

export interface BeatsOptions {
  readonly redis: Redis;
  readonly connections: Pick<Connections, 'all' | 'current'>;
  /** Name of this gateway. */
  readonly id: string;
  readonly rewriteEveryMs?: number;
}

interface Written {
  readonly news: string;
  readonly heartbeat: Heartbeat;
  readonly atMs: number;
}

/** Interval at which heartbeats are written again, several times per lifetime: it restores those that Redis lost in a failover. */
const REWRITE_EVERY_MS = 600_000;

export function createBeats({ redis, connections, id, rewriteEveryMs = REWRITE_EVERY_MS }: BeatsOptions): Beats {
  const written = new Map<string, Written>();
  const announce = (ready: Redis, probe: string): Promise<number> =>
    ready.publish(redisKeys.resultNotification(probe), HEARTBEAT_NOTIFICATION);
  const put = (
    ready: Redis,
    { probe, fingerprint, counter }: AgentConnection,
    text: string,
    ttlMs: number,
  ): Promise<unknown> => {
    const values = [text, ttlMs, fingerprint, counter, MAX_READ_BYTES - 1];
    return runScript(ready, writeHeartbeatScript, [redisKeys.heartbeat(probe)], values);
  };

  const write = async (connection: AgentConnection, heartbeat: Heartbeat): Promise<void> => {
    const { probe, fingerprint, counter } = connection;
    const last = written.get(probe);
    if (last?.heartbeat === heartbeat && performance.now() - last.atMs < rewriteEveryMs) return;
    const { load: _load, taken: _taken, ...rest } = heartbeat;
    const gateway = { id, key: fingerprint, counter };
    const news = JSON.stringify({ ...rest, gateway });
    const text = JSON.stringify({ ...heartbeat, announced: true, gateway });
    written.set(probe, { news: last?.news === news ? last.news : news, heartbeat, atMs: performance.now() });
    await onStore(redis, async (ready) => {
      const commands: Promise<unknown>[] = [put(ready, connection, text, GATEWAY_HEARTBEAT_TTL_MS)];
      if (last?.news !== news) commands.push(announce(ready, probe));
      await Promise.all(commands);
    });
  };
  const beat = (probe: string): void => {
    const connection = connections.current(probe);
    const heartbeat = connection?.heartbeat();
    if (connection === undefined || heartbeat === undefined) return;
    write(connection, heartbeat).catch(() => written.delete(probe));
  };
  const beatAll = (): void => {
    for (const probe of new Set(connections.all().map((connection) => connection.probe))) beat(probe);
  };
  const remove = ({ probe, fingerprint, counter }: AgentConnection): void => {
    written.delete(probe);
    const values = [fingerprint, counter, MAX_READ_BYTES - 1];
    onStore(redis, (ready) =>
      Promise.all([
        runScript(ready, removeHeartbeatScript, [redisKeys.heartbeat(probe)], values),
        announce(ready, probe),
      ]),
    ).catch(() => undefined);
  };
  /** An agent that lost its connection has as much time to return as one that writes its own heartbeats. */
  const leave = (connection: AgentConnection, { heartbeat }: Written): void => {
    const { probe } = connection;
    const text = JSON.stringify({ ...heartbeat, announced: true });
    onStore(redis, (ready) =>
      Promise.all([put(ready, connection, text, HEARTBEAT_TTL_MS), announce(ready, probe)]),
    ).catch(() => undefined);
  };
  return {
    beat,
    beatAll,
    remove,
    rewriteAll: () => {
      written.clear();
      beatAll();
    },
    ended: (connection) => {
      const { probe } = connection;
      if (connections.current(probe) !== connection) return;
      const last = written.get(probe);
      written.delete(probe);
      if (connection.isDraining() || connection.socket.wasSilent()) remove(connection);
      else if (last !== undefined) leave(connection, last);
    },
  };
}
