import { redisKeys, type ProbeRecord } from '@vantage/contract';
import { isCluster, mastersOf } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

import { writeMetricsAddress } from '../metrics-addresses.ts';
import { writeOffer } from '../offers.ts';
import { removeProbeKeys } from './probe-keys.ts';
import type { ProbeValidators } from './probe-validators.ts';

/** The operator's records of probes, independent of their status. */
export interface ProbeRecords {
  /** Every valid record, sorted by id. */
  readonly list: () => Promise<readonly ProbeRecord[]>;
  /**
   * Creates or replaces a record.
   *
   * @throws if it is invalid
   */
  readonly write: (record: ProbeRecord) => Promise<void>;
  /**
   * Removes a record with all keys that the agent may write, its last-seen times, suspension, offer and metrics
   * address; false if the id was not listed.
   */
  readonly remove: (id: string) => Promise<boolean>;
}

/** @param masters every server that accepts writes; by default those of the connection */
export function createProbeRecords(
  redis: Redis,
  validators: ProbeValidators,
  masters = (): readonly Redis[] => mastersOf(redis),
): ProbeRecords {
  return {
    list: () => readProbeRecords(redis, validators),
    write: async (record) => {
      const [fault] = validators.recordFaults(record);
      if (fault !== undefined) throw new Error(`${fault.field}: ${fault.message}`);
      // Adds the id last, so that every listed id has a record.
      await redis.set(redisKeys.probeRecord(record.id), JSON.stringify(record));
      await redis.sadd(redisKeys.probeIds, record.id);
    },
    remove: async (id) => {
      const removed = await redis.srem(redisKeys.probeIds, id);
      await Promise.all([
        redis.del(redisKeys.probeRecord(id)),
        redis.hdel(redisKeys.lastSeen, id, ...marksOf(id)),
        redis.hdel(redisKeys.suspended, id),
        writeOffer(redis, id, []),
        writeMetricsAddress(redis, id, undefined),
        removeProbeKeys(masters(), id),
      ]);
      return removed === 1;
    },
  };
}

/** Every valid record, sorted by id. */
export async function readProbeRecords(redis: Redis, validators: ProbeValidators): Promise<readonly ProbeRecord[]> {
  const texts = await readRecordTexts(redis, await readProbeIds(redis));
  return texts.flatMap((text) => (text === null ? [] : (validators.readRecord(text) ?? [])));
}

/** The ids of all probes with a record, in alphabetical order. */
export async function readProbeIds(redis: Redis): Promise<readonly string[]> {
  return (await redis.smembers(redisKeys.probeIds)).toSorted();
}

/** Records of these probes as JSON; null for a probe without one. */
export async function readRecordTexts(redis: Redis, ids: readonly string[]): Promise<readonly (string | null)[]> {
  if (ids.length === 0) return [];
  const keys = ids.map((id) => redisKeys.probeRecord(id));
  // On a Cluster the keys are in different slots.
  return isCluster(redis) ? Promise.all(keys.map((key) => redis.get(key))) : redis.mget(keys);
}

/**
 * Names of two more fields of a probe in the hash of last-seen times: the run (instance) of its agent, and when that
 * run returned after a silence. They contain a bar, which probe ids cannot.
 */
export function marksOf(id: string): readonly [run: string, back: string] {
  return [`${id}|run`, `${id}|back`];
}
