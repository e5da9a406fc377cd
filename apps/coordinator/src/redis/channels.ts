import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { openConnection } from './connections.ts';
import type { Log } from './log.ts';

/** A subscriber is owed nothing, so nothing but this arms its socket timeout. */
const PING_EVERY_MS = 2_000;

const HINT_PATTERN = redisKeys.resultHint('*');
const HINT_CHANNEL = /^p:\{([a-z0-9][a-z0-9-]{0,62})\}:n$/;

/** Messages of Redis' channels. Any may be lost: who listens also looks by himself. */
export interface Channels {
  readonly connection: Redis;
  /**
   * Listens to a channel from when the promise resolves until the returned function is called. The listener is called
   * with an empty message after a time without connection, in which something may have been missed.
   */
  readonly listen: (channel: string, listener: (message: string) => void) => Promise<() => void>;
  readonly stop: () => void;
}

/** @param onHint called with a probe's id when it has written something, and without one after a time without connection */
export function openChannels(redisUrl: string, log: Log, onHint: (probe?: string) => void): Channels {
  const connection = openConnection(redisUrl, 'subscriber', log);
  const listeners = new Map<string, Set<(message: string) => void>>();

  connection.on('ready', () => {
    const channels = [...listeners.keys()];
    Promise.all([
      connection.psubscribe(HINT_PATTERN),
      channels.length === 0 ? undefined : connection.subscribe(...channels),
    ]).then(
      () => {
        onHint();
        for (const set of listeners.values()) for (const listener of set) listener('');
      },
      // The next connection subscribes anew.
      () => connection.disconnect(true),
    );
  });
  connection.on('pmessage', (_pattern: string, channel: string) => {
    const probe = HINT_CHANNEL.exec(channel)?.[1];
    if (probe !== undefined) onHint(probe);
  });
  connection.on('message', (channel: string, message: string) => {
    for (const listener of listeners.get(channel) ?? []) listener(message);
  });
  const pinging = setInterval(() => {
    if (connection.status === 'ready') connection.ping().catch(() => undefined);
  }, PING_EVERY_MS);

  return {
    connection,
    listen: async (channel, listener) => {
      const set = listeners.get(channel) ?? new Set();
      listeners.set(channel, set);
      set.add(listener);
      // Not connected: `ready` will subscribe. A failed SUBSCRIBE ends in a new connection, which does so too.
      if (connection.status === 'ready') await connection.subscribe(channel).catch(() => undefined);
      return () => {
        set.delete(listener);
        if (set.size > 0 || listeners.get(channel) !== set) return;
        listeners.delete(channel);
        if (connection.status === 'ready') connection.unsubscribe(channel).catch(() => undefined);
      };
    },
    stop: () => clearInterval(pinging),
  };
}
