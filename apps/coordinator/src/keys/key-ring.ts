import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { RedisClock } from '../redis/clock.ts';
import type { Log } from '../redis/log.ts';
import { readHash } from '../redis/read-hash.ts';
import { onStore } from '../redis/store.ts';
import { createKeyReader, isExpired, type ApiKey } from './api-key.ts';
import { isSecretOf, readKeyText } from './key-text.ts';

/** Polling interval. */
export const POLL_INTERVAL_MS = 500;
/** All keys are read again at this interval, even if the revision is unchanged. */
const READ_ALL_EVERY_MS = 30_000;

export type FoundKey =
  | { readonly key: ApiKey }
  | { readonly refused: 'malformed' | 'unknown' | 'expired' }
  /** The keys have not been read since the start, so that it is unknown whether this one is valid. */
  | 'unread';

/** A copy of all keys in memory. While Redis is unavailable, the last copy is used. */
export interface KeyRing {
  /**
   * Looks up a key in memory.
   *
   * @param text as the client sent it
   */
  readonly find: (text: string) => FoundKey;
  /**
   * Reads the keys if they have changed, or were last read `READ_ALL_EVERY_MS` ago.
   *
   * @throws StoreUnavailable
   */
  readonly poll: () => Promise<void>;
}

interface Entry {
  readonly hash: string;
  readonly expiresAt: number | null;
  readonly key: ApiKey;
}

export function createKeyRing(redis: Redis, clock: RedisClock, log: Log): KeyRing {
  const readKey = createKeyReader();
  /** Secrets by their visible prefix; undefined before the first read. */
  let entries: ReadonlyMap<string, Entry> | undefined;
  let known: ReadonlyMap<string, { readonly json: string; readonly key: ApiKey | undefined }> = new Map();
  let revision: string | null = null;
  let readAllAt = Number.NEGATIVE_INFINITY;
  /** Clock of Redis minus the monotonic clock, milliseconds. */
  let offsetMs = 0;

  const readRecord = (name: string, json: string): { readonly json: string; readonly key: ApiKey | undefined } => {
    const same = known.get(name);
    if (same?.json === json) return same;
    const key = readKey(json);
    if (key === undefined) log.error({ key: name }, 'record of an API key is not valid: the key is refused');
    return { json, key };
  };
  const poll = async (ready: Redis): Promise<void> => {
    const startedAt = performance.now();
    offsetMs = (await clock.now(ready)) - performance.now();
    // The revision is read first, so that a concurrent change is read again by the next poll.
    const newest = await ready.get(redisKeys.apiKeysRevision);
    if (entries !== undefined && newest === revision && startedAt - readAllAt < READ_ALL_EVERY_MS) return;
    const records = Object.entries(await readHash(ready, redisKeys.apiKeys));
    known = new Map(records.map(([name, json]) => [name, readRecord(name, json)]));
    entries = new Map(
      [...known.values()].flatMap(({ key }) =>
        key === undefined ? [] : key.secrets.map((secret) => entryOf(key, secret)),
      ),
    );
    revision = newest;
    readAllAt = startedAt;
  };

  return {
    poll: () => onStore(redis, poll),
    find: (text) => {
      const given = readKeyText(text);
      if (given === undefined) return { refused: 'malformed' };
      if (entries === undefined) return 'unread';
      const entry = entries.get(given.prefix);
      if (entry === undefined || !isSecretOf(given.secret, entry.hash)) return { refused: 'unknown' };
      const nowMs = performance.now() + offsetMs;
      return isExpired(entry, nowMs) || isExpired(entry.key, nowMs) ? { refused: 'expired' } : { key: entry.key };
    },
  };
}

function entryOf(key: ApiKey, { prefix, hash, expiresAt }: ApiKey['secrets'][number]): [string, Entry] {
  return [prefix, { hash, expiresAt, key }];
}
