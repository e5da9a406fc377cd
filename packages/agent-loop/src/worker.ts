import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { JOB_QUEUE, redisKeys } from '@vantage/contract';
import { Worker, type Job } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';

import type { JobSource } from './job-loop.ts';

export type QueuedJob = Job<unknown, void>;

/** A probe's queue: jobs in BullMQ's keys, taken and finished by BullMQ's scripts. */
export interface ProbeQueue extends JobSource<QueuedJob> {
  /** Ids of the jobs that were taken and not finished, by this agent or an earlier one. */
  readonly active: () => Promise<readonly string[]>;
  /** Takes a job that is active out of the queue, whoever holds it. */
  readonly discard: (id: string) => Promise<void>;
  /** Makes the scripts usable on a new connection. Never rejects. */
  readonly warmUp: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface ProbeQueueOptions {
  readonly probeId: string;
  /** Ready already. Its options are used for the connection that waits, too. */
  readonly redis: Redis;
  readonly log: Logger;
}

/** Shorter than the socket timeout, which a wait must not trip. */
const WAIT_SECONDS = 3;
/** Locks are never renewed, nor looked at by anyone but a restarted agent: longer than any check. */
const LOCK_MS = 600_000;
const CLOSE_WITHIN_MS = 1_000;

export function openQueue({ probeId, redis, log }: ProbeQueueOptions): ProbeQueue {
  const worker = new PullingWorker(JOB_QUEUE, null, {
    connection: redis,
    prefix: redisKeys.queuePrefix(probeId),
    autorun: false,
    skipVersionCheck: true,
    skipStalledCheck: true,
    skipLockRenewal: true,
    lockDuration: LOCK_MS,
    maxStalledCount: 0,
    drainDelay: WAIT_SECONDS,
    runRetryDelay: 500,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
  });
  worker.on('error', (error) => log.debug({ err: error }, 'BullMQ says'));
  const backend = worker.getBackend();
  const token = randomUUID();
  const activeKey = worker.toKey('active');
  const markerKey = worker.toKey('marker');
  let closing = false;

  const discard = async (id: string): Promise<void> => {
    const job = worker.toKey(id);
    // The list last: while the id is in it, the next look at it removes what is left.
    await Promise.all([redis.del(job, `${job}:lock`), redis.lrem(activeKey, 0, id)]);
  };

  return {
    idOf: (job) => job.id ?? '',
    wait: async () => {
      try {
        await backend.waitForJob(WAIT_SECONDS);
      } catch (error) {
        if (!closing) await backend.reconnectBlocking();
        throw error;
      }
    },
    take: () => withScript(() => worker.getNextJob(token, { block: false })),
    forgetWaiting: async () => {
      await redis.zpopmin(markerKey);
    },
    finish: async (job, next) => {
      try {
        return await withScript(() => worker.finish(job, token, next));
      } catch (error) {
        if (!isGone(error)) throw error;
        // After a reconnect the command is sent again, and the first may have done it; what it brought along is
        // found in the list of active jobs.
        await discard(worker.idOf(job));
        return undefined;
      }
    },
    active: () => redis.lrange(activeKey, 0, -1),
    discard,
    warmUp: async () => {
      await worker.finish(worker.ghost(), token, false).catch(() => undefined);
    },
    close: async () => {
      closing = true;
      // Its promise may never settle (taskforcesh/bullmq #4656).
      await Promise.race([
        worker.close(true).catch(() => undefined),
        sleep(CLOSE_WITHIN_MS, undefined, { ref: false }),
      ]);
    },
  };
}

/** A Worker without its loop, which fetches one job per round trip; `createJob` and the like are protected. */
class PullingWorker extends Worker<unknown, void> {
  /** Without a return value: BullMQ would copy it into the stream of events. */
  async finish(job: QueuedJob, token: string, next: boolean): Promise<QueuedJob | undefined> {
    const answer: unknown = await job.moveToCompleted(undefined, token, next);
    if (!Array.isArray(answer)) return undefined;
    const [data, id] = answer as Parameters<typeof this.nextJobFromJobData>;
    return this.nextJobFromJobData(data, id, token);
  }

  idOf(job: QueuedJob): string {
    return job.id ?? '';
  }

  /** A job that is in no queue. */
  ghost(): QueuedJob {
    return this.createJob({ id: 'none', name: '', data: '{}', opts: {} } as never, 'none');
  }
}

/**
 * The first use of a script on a connection is sent as EVAL, which an agent's user may not: refused once, the next
 * use goes by the script's hash.
 */
async function withScript<T>(command: () => Promise<T>): Promise<T> {
  try {
    return await command();
  } catch (error) {
    if (!Error.isError(error) || !/^NO(PERM|SCRIPT)/.test(error.message)) throw error;
    return command();
  }
}

/** What BullMQ's `moveToFinished` says of a job that is not there, not locked, not active or locked by another. */
function isGone(error: unknown): boolean {
  return Error.isError(error) && 'code' in error && [-1, -2, -3, -6].includes(Number(error.code));
}
