import { redisKeys, type ProbeRecord } from '@vantage/contract';
import { isCluster } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

import { windowOf } from './reading/reading-turns.ts';
import { readProbeIds, readRecordTexts } from './probe-records.ts';
import type { ProbeValidators } from './probe-validators.ts';

/** Reads the records of all probes repeatedly; validates only changed ones. */
export interface RecordCache {
  /** Every valid record, sorted by id; the same array while nothing changes. */
  readonly read: (redis: Redis) => Promise<readonly ProbeRecord[]>;
}

/** On a cluster each record needs a command, so known records are read at this interval only. */
const CLUSTER_EVERY_MS = 5_000;
/** Number of records that one call reads again, in rotation. */
const MOST_AT_ONCE = 1_000;

interface Cached {
  readonly text: string;
  readonly record: ProbeRecord | undefined;
}

export function createRecordCache(validators: Pick<ProbeValidators, 'readRecord'>): RecordCache {
  return new Cache(validators);
}

class Cache implements RecordCache {
  private readonly validators: Pick<ProbeValidators, 'readRecord'>;
  private ids: readonly string[] = [];
  private idsReadAt = Number.NEGATIVE_INFINITY;
  private readonly cached = new Map<string, Cached>();
  private listed: readonly ProbeRecord[] = [];
  private readAgainAt = Number.NEGATIVE_INFINITY;
  private next = 0;

  constructor(validators: Pick<ProbeValidators, 'readRecord'>) {
    this.validators = validators;
  }

  readonly read: RecordCache['read'] = async (redis) => {
    // Together, so that the commands share a write and their replies a read: the ids seldom change.
    const again = this.again(redis);
    const [areOther, texts] = await Promise.all([this.readIds(redis), readRecordTexts(redis, again)]);
    const read = new Map(again.map((id, index) => [id, texts[index] ?? null]));
    const unknown = this.ids.filter((id) => !this.cached.has(id) && !read.has(id));
    const added = await readRecordTexts(redis, unknown);
    for (const [index, id] of unknown.entries()) read.set(id, added[index] ?? null);
    let hasChanged = areOther;
    // The record of a removed id stays out of the cache.
    for (const id of this.ids) if (read.has(id) && this.take(id, read.get(id) ?? null)) hasChanged = true;
    if (hasChanged) this.listed = this.ids.flatMap((id) => this.cached.get(id)?.record ?? []);
    return this.listed;
  };

  /** @returns true if the ids have changed */
  private async readIds(redis: Redis): Promise<boolean> {
    // An added or removed id changes their number; an id that replaces another one is found by the next read of all.
    const isDue = performance.now() - this.idsReadAt >= (this.ids.length > MOST_AT_ONCE ? this.ids.length : 0);
    if (!isDue && this.ids.length === (await redis.scard(redisKeys.probeIds))) return false;
    const ids = await readProbeIds(redis);
    this.idsReadAt = performance.now();
    if (ids.length === this.ids.length && ids.every((id, index) => id === this.ids[index])) return false;
    this.ids = ids;
    const listed = new Set(ids);
    for (const id of this.cached.keys()) if (!listed.has(id)) this.cached.delete(id);
    return true;
  }

  /** Ids of the records to read again. */
  private again(redis: Redis): readonly string[] {
    const { ids } = this;
    if (isCluster(redis)) {
      if (performance.now() - this.readAgainAt < CLUSTER_EVERY_MS) return [];
      this.readAgainAt = performance.now();
      return ids;
    }
    const window = windowOf(ids, this.next, MOST_AT_ONCE);
    this.next = (this.next + window.length) % Math.max(ids.length, 1);
    return window;
  }

  /** @returns true if the record has changed */
  private take(id: string, text: string | null): boolean {
    if (this.cached.get(id)?.text === (text ?? undefined)) return false;
    if (text === null) this.cached.delete(id);
    else this.cached.set(id, { text, record: this.validators.readRecord(text) });
    return true;
  }
}
