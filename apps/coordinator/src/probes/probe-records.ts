import { JOB_QUEUE, redisKeys, type ProbeRecord } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { ProbeValidators } from './probe-validators.ts';

/** The operator's records of probes. Nothing here says whether a probe is up. */
export interface ProbeRecords {
  /** Every valid record, by id. */
  readonly list: () => Promise<readonly ProbeRecord[]>;
  /**
   * Writes a record, over one that was there.
   *
   * @throws when it is not valid
   */
  readonly write: (record: ProbeRecord) => Promise<void>;
  /** Removes a record, and the queue and results of the probe; false where there was none. */
  readonly remove: (id: string) => Promise<boolean>;
}

export function createProbeRecords(redis: Redis, validators: ProbeValidators): ProbeRecords {
  return {
    list: () => readProbeRecords(redis, validators),
    write: async (record) => {
      const [fault] = validators.recordFaults(record);
      if (fault !== undefined) throw new Error(`${fault.field}: ${fault.message}`);
      // The id last: what the set names has a record.
      await redis.set(redisKeys.probeRecord(record.id), JSON.stringify(record));
      await redis.sadd(redisKeys.probeIds, record.id);
    },
    remove: async (id) => {
      const removed = await redis.srem(redisKeys.probeIds, id);
      const jobs = await queuedJobs(redis, id);
      await Promise.all([
        redis.del(redisKeys.probeRecord(id)),
        redis.hdel(redisKeys.lastSeen, id),
        redis.del(redisKeys.results(id), redisKeys.heartbeat(id), ...queueKeys(id), ...jobs),
      ]);
      return removed === 1;
    },
  };
}

/** Every valid record, by id. */
export async function readProbeRecords(redis: Redis, validators: ProbeValidators): Promise<readonly ProbeRecord[]> {
  const ids = await redis.smembers(redisKeys.probeIds);
  // One GET each, pipelined: on a cluster they are in different slots.
  const texts = await Promise.all(ids.toSorted().map((id) => redis.get(redisKeys.probeRecord(id))));
  return texts.flatMap((text) => (text === null ? [] : (validators.readRecord(text) ?? [])));
}

/**
 * The keys of the jobs that wait or run: they have no expiry, and without their list nobody would find them again. An agent
 * can write into these lists, but whatever it writes names keys of its own queue alone.
 */
async function queuedJobs(redis: Redis, id: string): Promise<readonly string[]> {
  const queue = `${redisKeys.queuePrefix(id)}:${JOB_QUEUE}`;
  const lists = await Promise.allSettled(['wait', 'active'].map((list) => redis.lrange(`${queue}:${list}`, 0, -1)));
  const ids = lists.flatMap((list) => (list.status === 'fulfilled' ? list.value : []));
  return ids.flatMap((job) => [`${queue}:${job}`, `${queue}:${job}:lock`]);
}

/** The keys of a probe's queue that are there whatever jobs there are. Named one by one: the agent can write more. */
function queueKeys(id: string): readonly string[] {
  const parts = ['wait', 'active', 'paused', 'delayed', 'prioritized', 'completed', 'failed', 'stalled', 'marker'];
  return [...parts, 'meta', 'id', 'events', 'limiter', 'pc', 'stalled-check'].map(
    (part) => `${redisKeys.queuePrefix(id)}:${JOB_QUEUE}:${part}`,
  );
}
