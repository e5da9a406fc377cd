import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

/** A subscriber is owed nothing, so nothing but this arms its socket timeout. */
const PING_EVERY_MS = 2_000;

const HINT_PATTERN = redisKeys.resultNotification('*');
/** Events of all checks: a subscription each would cost a round trip before, and one after, each reading that waits. */
const EVENT_PATTERN = redisKeys.checkEvents('*');
/** Patterns without wildcards: each is the one channel of its name. */
const SINGLE_CHANNELS = [
  redisKeys.agentChanged,
  redisKeys.agentConnected,
  redisKeys.jobsAdded,
  redisKeys.monitorsChanged,
] as const;
/** Their messages go to listeners by channel. */
const listened: ReadonlySet<string> = new Set([EVENT_PATTERN, ...SINGLE_CHANNELS]);
const HINT_CHANNEL = /^p:\{([a-z0-9][a-z0-9-]{0,62})\}:n$/;

/** Messages of Redis' channels. Any may be lost: who listens also looks by himself. */
export interface Channels {
  readonly connection: Redis;
  /**
   * Listens to the events of a check, or to changes of agents or monitors, or new jobs, until the returned function is called. The listener is called with an empty message
   * after a time without connection, in which something may have been missed.
   */
  readonly listen: (channel: string, listener: (message: string) => void) => () => void;
  readonly onHint: (taker: OnHint) => void;
  readonly stop: () => void;
}

/**
 * Called with a probe's id when it has written something, and with what the hint says; without an id after a time without
 * connection.
 */
export type OnHint = (probe?: string, said?: string) => void;

/** @param connection used for nothing else */
export function openChannels(connection: Redis, onHint?: OnHint): Channels {
  const takers = new Set<OnHint>(onHint === undefined ? [] : [onHint]);
  const takeHint: OnHint = (...hint) => {
    for (const taker of takers) taker(...hint);
  };
  const listeners = new Map<string, Set<(message: string) => void>>();

  connection.on('ready', () => {
    connection.psubscribe(HINT_PATTERN, ...listened).then(
      () => {
        takeHint();
        for (const set of listeners.values()) for (const listener of set) listener('');
      },
      // The next connection subscribes anew.
      () => connection.disconnect(true),
    );
  });
  connection.on('pmessage', (pattern: string, channel: string, message: string) => {
    if (listened.has(pattern)) {
      for (const listener of listeners.get(channel) ?? []) listener(message);
      return;
    }
    const probe = HINT_CHANNEL.exec(channel)?.[1];
    if (probe !== undefined) takeHint(probe, message);
  });
  const pinging = setInterval(() => {
    if (connection.status === 'ready') connection.ping().catch(() => undefined);
  }, PING_EVERY_MS);

  return {
    connection,
    listen: (channel, listener) => {
      const set = listeners.get(channel) ?? new Set();
      listeners.set(channel, set);
      set.add(listener);
      return () => {
        set.delete(listener);
        if (set.size === 0 && listeners.get(channel) === set) listeners.delete(channel);
      };
    },
    onHint: (taker) => void takers.add(taker),
    stop: () => clearInterval(pinging),
  };
}
