import type { ProbeRecord } from '@vantage/contract';
import { isCluster } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

import { readProbeIds, readRecordTexts } from './probe-records.ts';
import type { ProbeValidators } from './probe-validators.ts';

/** Reads the records of all probes repeatedly; validates only changed ones. */
export interface RecordCache {
  /** Every valid record, by id. */
  readonly read: (redis: Redis) => Promise<readonly ProbeRecord[]>;
}

/** On a cluster each record needs a command, so known records are read at this interval only. */
const CLUSTER_EVERY_MS = 5_000;
/** Number of records up to which all are read each time; beyond, a thousand per second are. */
const MANY = 2_000;

interface Cached {
  readonly text: string;
  readonly record: ProbeRecord | undefined;
}

export function createRecordCache(validators: Pick<ProbeValidators, 'readRecord'>): RecordCache {
  let cached = new Map<string, Cached>();
  let readAllAt = Number.NEGATIVE_INFINITY;

  return {
    read: async (redis) => {
      const ids = await readProbeIds(redis);
      const atLeastMs = isCluster(redis) ? CLUSTER_EVERY_MS : 0;
      const everyMs = Math.max(atLeastMs, ids.length > MANY ? ids.length : 0);
      const isDue = performance.now() - readAllAt >= everyMs;
      const wanted = isDue ? ids : ids.filter((id) => !cached.has(id));
      const texts = new Map((await readRecordTexts(redis, wanted)).map((text, index) => [wanted[index]!, text]));
      if (isDue) readAllAt = performance.now();
      const next = new Map<string, Cached>();
      for (const id of ids) {
        const [before, text] = [cached.get(id), texts.get(id)];
        if (before !== undefined && (text === before.text || text === undefined)) next.set(id, before);
        else if (typeof text === 'string') next.set(id, { text, record: validators.readRecord(text) });
      }
      cached = next;
      return [...next.values()].flatMap(({ record }) => record ?? []);
    },
  };
}
