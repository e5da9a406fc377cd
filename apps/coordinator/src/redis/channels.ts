import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

/** A subscriber sends no other commands: without these pings the socket timeout would not detect a dead connection. */
const PING_EVERY_MS = 2_000;

const NOTIFICATION_PATTERN = redisKeys.resultNotification('*');
/**
 * One pattern for the events of all checks: a subscription per check would cost each waiting reader two round trips.
 */
const EVENT_PATTERN = redisKeys.checkEvents('*');
/** Patterns without wildcards, each for one channel. */
const SINGLE_CHANNELS = [
  redisKeys.agentChanged,
  redisKeys.agentConnected,
  redisKeys.jobsAdded,
  redisKeys.jobsAbandoned,
  redisKeys.monitorsChanged,
] as const;
/** Patterns whose messages go to listeners by channel. */
const listened: ReadonlySet<string> = new Set([EVENT_PATTERN, ...SINGLE_CHANNELS]);
const NOTIFICATION_CHANNEL = /^p:\{([a-z0-9][a-z0-9-]{0,62})\}:n$/;

/** Pub/sub messages. They can be lost: a listener also polls, or tolerates that. */
export interface Channels {
  readonly connection: Redis;
  /**
   * Calls the listener for each message of the channel until the returned function is called. The channel is one of
   * `SINGLE_CHANNELS` or has a check's events. After each subscription at Redis the listener is called with an empty
   * message, because messages may have been missed.
   */
  readonly listen: (channel: string, listener: (message: string) => void) => () => void;
  readonly onNotification: (taker: OnNotification) => void;
  readonly stop: () => void;
}

/**
 * Called with the id of a probe and the content of its notification; without an id after each subscription at Redis,
 * because notifications may have been missed.
 */
export type OnNotification = (probe?: string, said?: string) => void;

/** @param connection dedicated to subscriptions */
export function openChannels(connection: Redis, onNotification?: OnNotification): Channels {
  const takers = new Set<OnNotification>(onNotification === undefined ? [] : [onNotification]);
  const takeNotification: OnNotification = (...notification) => {
    for (const taker of takers) taker(...notification);
  };
  const listeners = new Map<string, Set<(message: string) => void>>();

  connection.on('ready', () => {
    connection.psubscribe(NOTIFICATION_PATTERN, ...listened).then(
      () => {
        takeNotification();
        for (const set of listeners.values()) for (const listener of set) listener('');
      },
      // The subscription failed: the next connection subscribes again.
      () => connection.disconnect(true),
    );
  });
  connection.on('pmessage', (pattern: string, channel: string, message: string) => {
    if (listened.has(pattern)) {
      for (const listener of listeners.get(channel) ?? []) listener(message);
      return;
    }
    const probe = NOTIFICATION_CHANNEL.exec(channel)?.[1];
    if (probe !== undefined) takeNotification(probe, message);
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
    onNotification: (taker) => void takers.add(taker),
    stop: () => clearInterval(pinging),
  };
}
