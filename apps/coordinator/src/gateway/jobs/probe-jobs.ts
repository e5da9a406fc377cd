import { JOB_QUEUE, redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { runScript } from '../../redis/scripts.ts';
import { onStore } from '../../redis/store.ts';
import { activeScript, takeScript } from './job-scripts.ts';

export interface TakenJob {
  readonly id: string;
  readonly name: string;
  /** The job as JSON. */
  readonly data: string;
  /** When the job was added, milliseconds since the epoch. */
  readonly timestamp: number;
}

export interface ActiveJob extends TakenJob {
  /** Instance of the agent that the job was taken for; '' if an agent took it without a gateway. */
  readonly taker: string;
}

/** The queue of one probe. Every function rejects with StoreUnavailable without Redis. */
export interface ProbeJobs {
  readonly take: (most: number) => Promise<{ readonly jobs: readonly TakenJob[]; readonly waiting: number }>;
  /** Jobs that were taken and are not finished; at most 1,000. */
  readonly active: () => Promise<readonly ActiveJob[]>;
  /** Removes taken jobs. */
  readonly discard: (ids: readonly string[]) => Promise<void>;
}

type Row = readonly [id: string, name: string, data: string, timestamp: string, taker?: string];

export function openProbeJobs(redis: Redis, probe: string, instance: string): ProbeJobs {
  const prefix = `${redisKeys.queuePrefix(probe)}:${JOB_QUEUE}:`;
  const [waiting, active] = [`${prefix}wait`, `${prefix}active`];
  const job = ([id, name, data, timestamp, taker = '']: Row): ActiveJob => ({
    id,
    name,
    data,
    taker,
    timestamp: Number(timestamp),
  });
  return {
    take: (most) =>
      onStore(redis, async (ready) => {
        const reply = await runScript(ready, takeScript, [waiting, active], [prefix, most, instance]);
        const [rows, left] = reply as readonly [readonly Row[], number];
        return { jobs: rows.map(job), waiting: left };
      }),
    active: () =>
      onStore(redis, async (ready) =>
        ((await runScript(ready, activeScript, [active], [prefix])) as readonly Row[]).map(job),
      ),
    discard: (ids) =>
      onStore(redis, async (ready) => {
        const keys = ids.flatMap((id) => [`${prefix}${id}`, `${prefix}${id}:lock`]);
        // Changes the list last: as long as it contains the id, a later poll removes the rest.
        await Promise.all([ready.unlink(...keys), ...ids.map((id) => ready.lrem(active, 0, id))]);
      }),
  };
}
