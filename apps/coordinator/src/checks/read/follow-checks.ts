import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { Channels } from '../../redis/channels.ts';
import type { Log } from '../../redis/log.ts';
import { isStoreFault, onStore } from '../../redis/store.ts';
import { readChanges, type Changes } from '../store/check-changes.ts';
import { CheckEvicted, StoreUnavailable } from '../../redis/store-errors.ts';
import type { Completion, LiveCheck, LiveChecks } from './live-check.ts';
import type { ProbeState } from '../store/probe-state.ts';
import type { MasterWatch } from '../../redis/server-state/master-watch.ts';

/** Pub/sub is lossy: followed checks are also polled at this interval. */
const LOOK_AGAIN_MS = 2_000;
/** Pause between attempts while Redis is unavailable. */
const RETRY_MS = 300;

export interface LiveSources {
  readonly redis: Redis;
  readonly master: Pick<MasterWatch, 'find'>;
  readonly channels: Pick<Channels, 'listen'>;
  readonly log: Log;
}

/** State of one followed check, shared by all its followers: one listener, one read per change. */
interface Feed {
  readonly followers: Set<() => void>;
  /** Settled after the first read. */
  readonly opened: Promise<void>;
  readonly live: Omit<LiveCheck, 'close'>;
  /** Set when the check was evicted. */
  readonly eviction: () => CheckEvicted | undefined;
  readonly close: () => void;
}

/** Follows checks: subscribes, then reads, then reads the changes after every message and reconnection. */
export function createLiveChecks(sources: LiveSources): LiveChecks {
  const feeds = new Map<string, Feed>();

  const feedOf = (id: string): Feed => {
    const known = feeds.get(id);
    if (known !== undefined) return known;
    const feed = openFeed(id, sources);
    feeds.set(id, feed);
    return feed;
  };

  return {
    follow: async (id, onChange) => {
      const feed = feedOf(id);
      let isFollowing = false;
      const follower = (): void => (isFollowing ? onChange() : undefined);
      feed.followers.add(follower);
      const close = (): void => {
        if (!feed.followers.delete(follower) || feed.followers.size > 0) return;
        feed.close();
        if (feeds.get(id) === feed) feeds.delete(id);
      };
      try {
        await feed.opened;
      } catch (error) {
        close();
        throw error;
      }
      if (feed.live.isGone()) {
        close();
        const eviction = feed.eviction();
        if (eviction !== undefined) throw eviction;
        return undefined;
      }
      isFollowing = true;
      return { ...feed.live, close };
    },
  };
}

function openFeed(id: string, { redis, master, channels, log }: LiveSources): Feed {
  const followers = new Set<() => void>();
  const states = new Map<string, ProbeState>();
  let completion: Completion | undefined;
  let version = -1;
  let epoch = 0;
  let isGone = false;
  let eviction: CheckEvicted | undefined;
  let isOpen = true;
  let isLooking = false;
  let looksAgain = false;
  let timer: NodeJS.Timeout | undefined;

  /** @returns whether anything is new */
  const take = (changes: Changes | undefined): boolean => {
    if (changes === undefined) {
      isGone = true;
      return true;
    }
    const { changed } = changes;
    if (changed === undefined) return false;
    if (changes.version < version) {
      states.clear();
      epoch += 1;
    }
    version = changes.version;
    for (const state of changed.states) states.set(state.probe, state);
    if (changed.check.status === 'completed') {
      completion = { version, check: changed.check, states: [...states.values()] };
    }
    return true;
  };

  /** On completion the whole check is read: after data loss in Redis, versions may start again and hide changes. */
  const readNew = async (): Promise<Changes | undefined> => {
    try {
      const changes = await master.find(redis, () => readChanges(redis, id, version));
      const isLast = changes?.changed?.check.status === 'completed';
      return isLast && version !== -1 ? await readChanges(redis, id, -1) : changes;
    } catch (error) {
      if (!(error instanceof CheckEvicted)) throw error;
      eviction = error;
      return undefined;
    }
  };

  const look = async (): Promise<void> => {
    looksAgain = true;
    if (isLooking) return;
    isLooking = true;
    clearTimeout(timer);
    try {
      while (looksAgain && isOpen) {
        looksAgain = false;
        const isNews = take(await onStore(redis, readNew));
        if (isGone || completion !== undefined) close();
        if (isNews) for (const follower of followers) follower();
      }
      again(LOOK_AGAIN_MS);
    } catch (error) {
      again(RETRY_MS);
      throw error;
    } finally {
      isLooking = false;
    }
  };

  const lookQuietly = (): void => {
    look().catch((error: unknown) => {
      // The connection itself reports that it is lost.
      if (!(error instanceof StoreUnavailable) && !isStoreFault(error))
        log.error({ error }, 'a check cannot be followed');
    });
  };

  const again = (milliseconds: number): void => {
    if (isOpen) timer = setTimeout(lookQuietly, milliseconds);
  };

  const close = (): void => {
    isOpen = false;
    clearTimeout(timer);
    stopListening();
  };

  const stopListening = channels.listen(redisKeys.checkEvents(id), lookQuietly);
  return {
    followers,
    opened: look(),
    live: {
      since: (sent) => [...states.values()].filter((state) => state.version > sent).toSorted(byVersion),
      completion: () => completion,
      isGone: () => isGone,
      epoch: () => epoch,
      version: () => version,
    },
    eviction: () => eviction,
    close,
  };
}

function byVersion(a: ProbeState, b: ProbeState): number {
  return a.version - b.version;
}
