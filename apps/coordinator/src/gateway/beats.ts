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
import type { AgentConnection } from './connection/connection.ts';
import type { Connections } from './connections.ts';
import { MAX_READ_BYTES, removeHeartbeatScript, writeHeartbeatScript } from './heartbeat-scripts.ts';

/** The heartbeats of a gateway's agents, written when they change and at an interval. */
export interface Beats {
  /** Writes the heartbeat of a probe if it has changed or is due to be written again. */
  readonly beat: (probe: string) => void;
  /** Examines all heartbeats; to be called at an interval. */
  readonly beatAll: () => void;
  /** Writes all heartbeats again, because Redis may have lost some. */
  readonly rewriteAll: () => void;
  /** Removes the heartbeat of a connection, unless a newer connection of the same key has written it. */
  readonly remove: (connection: AgentConnection) => void;
  /**
   * To be called when a connection has ended. If it was the newest of its probe, removes the heartbeat of an agent that
   * drains or was silent, and writes that of any other again with a short time to live.
   */
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

/**
 * Interval at which heartbeats are written again, a sixth of `GATEWAY_HEARTBEAT_TTL_MS`: it restores those that Redis
 * lost in a failover.
 */
const REWRITE_EVERY_MS = 600_000;

export function createBeats(options: BeatsOptions): Beats {
  return new BeatsOfGateway(options);
}

class BeatsOfGateway implements Beats {
  private readonly redis: Redis;
  private readonly connections: BeatsOptions['connections'];
  private readonly id: string;
  private readonly rewriteEveryMs: number;
  private readonly written = new Map<string, Written>();

  constructor({ redis, connections, id, rewriteEveryMs = REWRITE_EVERY_MS }: BeatsOptions) {
    this.redis = redis;
    this.connections = connections;
    this.id = id;
    this.rewriteEveryMs = rewriteEveryMs;
  }

  readonly beat = (probe: string): void => {
    const connection = this.connections.current(probe);
    const heartbeat = connection?.heartbeat();
    if (connection === undefined || heartbeat === undefined) return;
    this.write(connection, heartbeat).catch(() => this.written.delete(probe));
  };

  readonly beatAll = (): void => {
    for (const probe of new Set(this.connections.all().map((connection) => connection.probe))) this.beat(probe);
  };

  readonly rewriteAll = (): void => {
    this.written.clear();
    this.beatAll();
  };

  readonly remove = ({ probe, fingerprint, counter }: AgentConnection): void => {
    this.written.delete(probe);
    const values = [fingerprint, counter, MAX_READ_BYTES - 1];
    onStore(this.redis, (ready) =>
      Promise.all([
        runScript(ready, removeHeartbeatScript, [redisKeys.heartbeat(probe)], values),
        announce(ready, probe),
      ]),
    ).catch(() => undefined);
  };

  readonly ended = (connection: AgentConnection): void => {
    const { probe } = connection;
    if (this.connections.current(probe) !== connection) return;
    const last = this.written.get(probe);
    this.written.delete(probe);
    if (connection.isDraining() || connection.socket.wasSilent()) this.remove(connection);
    else if (last !== undefined) this.leave(connection, last);
  };

  private async write(connection: AgentConnection, heartbeat: Heartbeat): Promise<void> {
    const { probe, fingerprint, counter } = connection;
    const last = this.written.get(probe);
    if (last?.heartbeat === heartbeat && performance.now() - last.atMs < this.rewriteEveryMs) return;
    const { load: _load, taken: _taken, ...rest } = heartbeat;
    const gateway = { id: this.id, key: fingerprint, counter };
    const news = JSON.stringify({ ...rest, gateway });
    const text = JSON.stringify({ ...heartbeat, announced: true, gateway });
    this.written.set(probe, { news: last?.news === news ? last.news : news, heartbeat, atMs: performance.now() });
    await onStore(this.redis, async (ready) => {
      const commands: Promise<unknown>[] = [put(ready, connection, text, GATEWAY_HEARTBEAT_TTL_MS)];
      if (last?.news !== news) commands.push(announce(ready, probe));
      await Promise.all(commands);
    });
  }

  /**
   * Writes the last heartbeat again, independent of the gateway's lease: an agent that lost its connection has as much
   * time to return as one that writes its own heartbeats.
   */
  private leave(connection: AgentConnection, { heartbeat }: Written): void {
    const { probe } = connection;
    const text = JSON.stringify({ ...heartbeat, announced: true });
    onStore(this.redis, (ready) =>
      Promise.all([put(ready, connection, text, HEARTBEAT_TTL_MS), announce(ready, probe)]),
    ).catch(() => undefined);
  }
}

function announce(ready: Redis, probe: string): Promise<number> {
  return ready.publish(redisKeys.resultNotification(probe), HEARTBEAT_NOTIFICATION);
}

function put(
  ready: Redis,
  { probe, fingerprint, counter }: AgentConnection,
  text: string,
  ttlMs: number,
): Promise<unknown> {
  const values = [text, ttlMs, fingerprint, counter, MAX_READ_BYTES - 1];
  return runScript(ready, writeHeartbeatScript, [redisKeys.heartbeat(probe)], values);
}
