import { ABANDONED_FIELD, JOB_QUEUE, MOST_REQUEST_WORDS, redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { JobSource } from './job-loop.ts';
import { untilReady } from './redis.ts';

/** A BullMQ job as the coordinator added it. */
export interface QueuedJob {
  /** Id of the check, or of the screenshot of one. */
  readonly id: string;
  /** Type of the check, or that of a screenshot's job. */
  readonly name: string;
  /** Data of the job; undefined if it is no JSON. */
  readonly data: unknown;
  /** When it was added: milliseconds since the epoch, by the clock of the coordinator. */
  readonly timestamp: number;
}

/** A probe's BullMQ queue, consumed by plain commands: `docs/decisions/0007` has the reasons. */
export interface ProbeQueue extends JobSource<QueuedJob> {
  /** Ids of active jobs, whichever agent took them. */
  readonly active: () => Promise<readonly string[]>;
  /** Whether the queue has this job, taken or not. */
  readonly exists: (id: string) => Promise<boolean>;
  /** Whether the coordinator has noted that no client follows the check of an active job any more. */
  readonly isAbandoned: (id: string) => Promise<boolean>;
  /** Removes jobs that are active from the queue. */
  readonly discard: (ids: readonly string[]) => Promise<void>;
}

export interface ProbeQueueOptions {
  readonly probeId: string;
  /** Connection for all commands that do not block. */
  readonly redis: Redis;
  /** Connection for the blocking command; it fails at once when the connection is lost. */
  readonly blocking: Redis;
  /** Connection that writes results: the removal of a job shares a write with its result. Fails at once, too. */
  readonly writing: Redis;
}

export function openQueue({ probeId, redis, blocking, writing }: ProbeQueueOptions): ProbeQueue {
  const prefix = `${redisKeys.queuePrefix(probeId)}:${JOB_QUEUE}:`;
  const waiting = `${prefix}wait`;
  const active = `${prefix}active`;
  const stopped = new AbortController();

  const discard = async (ids: readonly string[], connection = redis): Promise<void> => {
    // BullMQ's own workers leave locks, which are removed, too.
    const keys = ids.flatMap((id) => [`${prefix}${id}`, `${prefix}${id}:lock`]);
    const unlinks = inParts(keys, MOST_REQUEST_WORDS - 1).map((part) => connection.unlink(...part));
    // The list last: as long as it contains the id, a later poll removes the rest.
    await Promise.all([...unlinks, ...ids.map((id) => connection.lrem(active, 0, id))]);
  };

  return {
    next: async (waitSeconds) => {
      if (blocking.status !== 'ready') await ready(blocking, waitSeconds, stopped.signal);
      if (blocking.status !== 'ready' || stopped.signal.aborted) return undefined;
      try {
        return await blocking.blmove(waiting, active, 'RIGHT', 'LEFT', waitSeconds);
      } catch (error) {
        // The lost connection is logged elsewhere; the next call uses the next connection.
        if (blocking.status !== 'ready') return undefined;
        throw error;
      }
    },
    stopWaiting: () => {
      stopped.abort();
      blocking.disconnect();
    },
    read: async (id) => {
      const { name, data, timestamp } = await redis.hgetall(`${prefix}${id}`);
      const isThere = name !== undefined || data !== undefined;
      if (isThere) return { id, name: name ?? '', data: parse(data), timestamp: Number(timestamp) };
      // The job was removed after it was taken.
      await discard([id]);
      return undefined;
    },
    finish: async (jobs) => {
      const ids = jobs.map(({ id }) => id);
      const isRemoved =
        writing.status === 'ready' &&
        (await discard(ids, writing).then(
          () => true,
          () => false,
        ));
      // The retrying connection repeats the command after an outage.
      if (!isRemoved) await discard(ids);
    },
    exists: async (id) => Object.keys(await redis.hgetall(`${prefix}${id}`)).length > 0,
    isAbandoned: async (id) => ABANDONED_FIELD in (await redis.hgetall(`${prefix}${id}`)),
    active: () => redis.lrange(active, 0, -1),
    discard: (ids) => discard(ids),
  };
}

/** Resolves when the connection is ready, after the maximum wait, or when waiting is stopped. */
async function ready(redis: Redis, waitSeconds: number, stopped: AbortSignal): Promise<void> {
  const signal = AbortSignal.any([stopped, AbortSignal.timeout(waitSeconds * 1_000)]);
  await untilReady(redis, signal).catch(() => undefined);
}

function inParts<T>(values: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(values.length / size) }, (_, index) =>
    values.slice(index * size, (index + 1) * size),
  );
}

function parse(json: string | undefined): unknown {
  try {
    return JSON.parse(json ?? '');
  } catch {
    return undefined;
  }
}
