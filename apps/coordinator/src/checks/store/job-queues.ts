import { JOB_QUEUE, redisKeys, type Job } from '@vantage/contract';
import { within } from '@vantage/timers';
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';

import type { Log } from '../../redis/log.ts';
import { runScript } from '../../redis/scripts.ts';
import { removeWaitingJobScript } from './check-scripts.ts';

/** Nobody reads BullMQ's events of a queue; its default keeps ten thousand of them. */
export const MAX_EVENTS = 10;

/** Close of a BullMQ queue may never return. */
const CLOSE_WITHIN_MS = 500;

/** One BullMQ queue per probe, all on one connection. */
export interface JobQueues {
  /**
   * Adds a probe's share of a check; the job's id is the check's unless another one is given. Only on a connection that is
   * ready: a BullMQ queue that is made on another waits for it without end.
   */
  readonly add: (probe: string, job: Job, jobId?: string) => Promise<void>;
  /** Takes a job back that still waits; false when it does not. */
  readonly removeWaiting: (redis: Redis, probe: string, jobId: string) => Promise<boolean>;
  readonly close: () => Promise<void>;
}

export function createJobQueues(connection: Redis, log: Log): JobQueues {
  const queues = new Map<string, Queue>();
  /** Probes whose queue has been told, on this connection, how many events to keep: Redis may come back without it. */
  const bounded = new Set<string>();
  connection.on('close', () => bounded.clear());

  const queueOf = (probe: string): Queue => {
    const known = queues.get(probe);
    if (known !== undefined) return known;
    const queue = new Queue(JOB_QUEUE, {
      connection,
      prefix: redisKeys.queuePrefix(probe),
      skipVersionCheck: true,
      skipMetasUpdate: true,
      // Nothing of a job outlives it: its result went by another way.
      defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
    });
    queue.on('error', (error) => log.debug({ probe, error: error.message }, 'job queue failed'));
    queues.set(probe, queue);
    return queue;
  };

  const boundEvents = async (probe: string): Promise<void> => {
    if (bounded.has(probe)) return;
    bounded.add(probe);
    try {
      await connection.hset(queueKey(probe, 'meta'), 'opts.maxLenEvents', MAX_EVENTS);
    } catch (error) {
      bounded.delete(probe);
      throw error;
    }
  };

  return {
    add: async (probe, job, jobId = job.checkId) => {
      await Promise.all([boundEvents(probe), queueOf(probe).add(job.type, job, { jobId })]);
      // Gateways look at the queues themselves if they miss it.
      void connection.publish(redisKeys.jobsAdded, probe).catch(() => undefined);
    },
    removeWaiting: async (redis, probe, jobId) =>
      (await runScript(redis, removeWaitingJobScript, [queueKey(probe, 'wait'), queueKey(probe, jobId)], [jobId])) ===
      1,
    close: async () => {
      await Promise.all([...queues.values()].map((queue) => within(queue.close(), CLOSE_WITHIN_MS)));
    },
  };
}

/** BullMQ's own layout: `<prefix>:<queue>:<part or job id>`. */
function queueKey(probe: string, part: string): string {
  return `${redisKeys.queuePrefix(probe)}:${JOB_QUEUE}:${part}`;
}
