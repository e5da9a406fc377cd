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
const POLL_AGAIN_MS = 2_000;
/** Pause after a failed read. */
const RETRY_MS = 300;

export interface LiveSources {
  readonly redis: Redis;
  readonly master: Pick<MasterWatch, 'find'>;
  readonly channels: Pick<Channels, 'listen'>;
  readonly log: Log;
}

/** State of one followed check, shared by all its followers in this process. */
interface Feed {
  readonly followers: Set<() => void>;
  /** Settled after the first read. */
  readonly opened: Promise<void>;
  readonly live: Omit<LiveCheck, 'close'>;
  /** The error of an evicted check; undefined for any other. */
  readonly eviction: () => CheckEvicted | undefined;
  readonly close: () => void;
}

/**
 * Follows checks: subscribes, then reads, then reads the changes after messages and reconnections, and at an interval.
 */
export function createLiveChecks(sources: LiveSources): LiveChecks {
  const feeds = new Map<string, Feed>();

  const feedOf = (id: string): Feed => {
    const known = feeds.get(id);
    if (known !== undefined) return known;
    const feed = new CheckFeed(id, sources);
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

class CheckFeed implements Feed {
  readonly followers = new Set<() => void>();
  readonly opened: Promise<void>;
  readonly live: Feed['live'];
  readonly #id: string;
  readonly #sources: LiveSources;
  readonly #stopListening: () => void;
  readonly #states = new Map<string, ProbeState>();
  #completion: Completion | undefined;
  #version = -1;
  #epoch = 0;
  #isGone = false;
  #eviction: CheckEvicted | undefined;
  #isOpen = true;
  #isPolling = false;
  #pollsAgain = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(id: string, sources: LiveSources) {
    this.#id = id;
    this.#sources = sources;
    this.live = {
      since: (sent) => [...this.#states.values()].filter(({ version }) => version > sent).toSorted(byVersion),
      completion: () => this.#completion,
      isGone: () => this.#isGone,
      epoch: () => this.#epoch,
      version: () => this.#version,
    };
    this.#stopListening = sources.channels.listen(redisKeys.checkEvents(id), () => this.#pollQuietly());
    this.opened = this.#poll();
  }

  readonly eviction = (): CheckEvicted | undefined => this.#eviction;

  readonly close = (): void => {
    this.#isOpen = false;
    clearTimeout(this.#timer);
    this.#stopListening();
  };

  async #poll(): Promise<void> {
    this.#pollsAgain = true;
    if (this.#isPolling) return;
    this.#isPolling = true;
    clearTimeout(this.#timer);
    try {
      while (this.#pollsAgain && this.#isOpen) {
        this.#pollsAgain = false;
        const isNews = this.#take(await onStore(this.#sources.redis, () => this.#readNew()));
        if (this.#isGone || this.#completion !== undefined) this.close();
        if (isNews) for (const follower of this.followers) follower();
      }
      this.#pollIn(POLL_AGAIN_MS);
    } catch (error) {
      this.#pollIn(RETRY_MS);
      throw error;
    } finally {
      this.#isPolling = false;
    }
  }

  #pollIn(milliseconds: number): void {
    if (this.#isOpen) this.#timer = setTimeout(() => this.#pollQuietly(), milliseconds);
  }

  #pollQuietly(): void {
    this.#poll().catch((error: unknown) => {
      // The connection logs that Redis is unavailable.
      if (!(error instanceof StoreUnavailable) && !isStoreFault(error))
        this.#sources.log.error({ error }, 'a check cannot be followed');
    });
  }

  /**
   * Reads the changes; on completion the whole check: after data loss in Redis, versions may start again and hide
   * changes.
   */
  async #readNew(): Promise<Changes | undefined> {
    const { redis, master } = this.#sources;
    try {
      const changes = await master.find(redis, () => readChanges(redis, this.#id, this.#version));
      const isLast = changes?.changed?.check.status === 'completed';
      return isLast && this.#version !== -1 ? await readChanges(redis, this.#id, -1) : changes;
    } catch (error) {
      if (!(error instanceof CheckEvicted)) throw error;
      this.#eviction = error;
      return undefined;
    }
  }

  /** @returns true if anything is new */
  #take(changes: Changes | undefined): boolean {
    if (changes === undefined) {
      this.#isGone = true;
      return true;
    }
    const { changed, version } = changes;
    if (changed === undefined) return false;
    if (version < this.#version) {
      this.#states.clear();
      this.#epoch += 1;
    }
    this.#version = version;
    for (const state of changed.states) this.#states.set(state.probe, state);
    if (changed.check.status === 'completed') {
      this.#completion = { version, check: changed.check, states: [...this.#states.values()] };
    }
    return true;
  }
}

function byVersion(a: ProbeState, b: ProbeState): number {
  return a.version - b.version;
}
