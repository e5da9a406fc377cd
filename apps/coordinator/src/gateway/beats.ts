import {
  HEARTBEAT_EVERY_MS,
  HEARTBEAT_NOTIFICATION,
  HEARTBEAT_TTL_MS,
  redisKeys,
  type Heartbeat,
} from '@vantage/contract';
import type { Redis } from 'ioredis';

import { onStore } from '../redis/store.ts';
import type { AgentConnection } from './connection.ts';
import type { Connections } from './connections.ts';

/** The heartbeats of the agents of a gateway, as an agent with access to Redis writes its own. */
export interface Beats {
  /** Writes the heartbeat of a probe if it has changed. */
  readonly beat: (probe: string) => void;
  /** Looks at all; call it every two seconds. */
  readonly beatAll: () => void;
  /** The probe is offline at once. */
  readonly remove: (probe: string) => void;
  /** Call when a connection has ended. */
  readonly ended: (connection: AgentConnection) => void;
}

interface Written {
  readonly news: string;
  readonly text: string;
  readonly atMs: number;
}

export function createBeats(redis: Redis, connections: Pick<Connections, 'all' | 'current'>): Beats {
  const written = new Map<string, Written>();
  const announce = (ready: Redis, probe: string): Promise<number> =>
    ready.publish(redisKeys.resultNotification(probe), HEARTBEAT_NOTIFICATION);

  const write = async (probe: string, heartbeat: Heartbeat): Promise<void> => {
    const { load: _load, taken: _taken, ...rest } = heartbeat;
    const [news, text] = [JSON.stringify(rest), JSON.stringify({ ...heartbeat, announced: true })];
    const last = written.get(probe);
    const isDue = last === undefined || performance.now() - last.atMs >= HEARTBEAT_EVERY_MS;
    if (last?.text === text && !isDue) return;
    written.set(probe, { news, text, atMs: performance.now() });
    await onStore(redis, async (ready) => {
      const commands: Promise<unknown>[] = [ready.set(redisKeys.heartbeat(probe), text, 'PX', HEARTBEAT_TTL_MS)];
      if (last?.news !== news) commands.push(announce(ready, probe));
      await Promise.all(commands);
    });
  };
  const beat = (probe: string): void => {
    const heartbeat = connections.current(probe)?.heartbeat();
    if (heartbeat === undefined) return;
    write(probe, heartbeat).catch(() => written.delete(probe));
  };
  const remove = (probe: string): void => {
    written.delete(probe);
    onStore(redis, (ready) => Promise.all([ready.del(redisKeys.heartbeat(probe)), announce(ready, probe)])).catch(
      () => undefined,
    );
  };
  return {
    beat,
    remove,
    beatAll: () => {
      for (const probe of new Set(connections.all().map((connection) => connection.probe))) beat(probe);
    },
    ended: (connection) => {
      const { probe } = connection;
      if (connections.current(probe) !== connection) return;
      written.delete(probe);
      if (connection.isDraining()) remove(probe);
    },
  };
}
