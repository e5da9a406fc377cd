import { JOB_QUEUE, redisKeys, type Job } from '@vantage/contract';
import { isCluster } from '@vantage/redis-connections';
import { within } from '@vantage/timers';
import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';

import type { Log } from '../../redis/log.ts';
import { defineScript, runScript } from '../../redis/scripts.ts';

/** Finished jobs are removed: results travel by the result stream. */
export const JOB_OPTIONS = { attempts: 1, removeOnComplete: true, removeOnFail: true } as const;

/** Maximum length of BullMQ's event streams, which are not read; the default is ten thousand. */
const MAX_EVENTS = 10;

/** Time for closing a BullMQ queue, which may hang. */
const CLOSE_WITHIN_MS = 500;

/**
 * Removes a waiting job. BullMQ's own removal would follow keys that the agent may have written.
 * KEYS wait list, job. ARGV job id. Returns 1 if it was waiting.
 */
export const removeWaitingJobScript = defineScript(
  'allow-oom',
  `
if redis.call('LREM', KEYS[1], 0, ARGV[1]) == 0 then return 0 end
redis.call('DEL', KEYS[2])
return 1
`,
);

/** One BullMQ queue per probe, all on one connection. */
export interface JobQueues {
  /**
   * Adds a probe's job; its id is that of the check by default. Requires a ready connection: a BullMQ queue created on
   * another one waits for it without limit.
   */
  readonly add: (probe: string, job: Job, jobId?: string) => Promise<void>;
  /** Removes a waiting job; false if it is not waiting. */
  readonly removeWaiting: (redis: Redis, probe: string, jobId: string) => Promise<boolean>;
  readonly close: () => Promise<void>;
}

export function createJobQueues(connection: Redis, log: Log): JobQueues {
  const queues = new Map<string, Queue>();
  /** Probes whose event stream was bounded on this connection: Redis may restart without that setting. */
  const bounded = new Set<string>();
  connection.on('close', () => bounded.clear());

  // BullMQ takes 5 MiB. It is loaded in advance for a Cluster only: on a single server `startScript` adds the jobs of checks.
  if (isCluster(connection)) void import('bullmq');

  const queueOf = async (probe: string): Promise<Queue> => {
    const { Queue } = await import('bullmq');
    const known = queues.get(probe);
    if (known !== undefined) return known;
    const queue = new Queue(JOB_QUEUE, {
      connection,
      prefix: redisKeys.queuePrefix(probe),
      skipVersionCheck: true,
      skipMetasUpdate: true,
      defaultJobOptions: JOB_OPTIONS,
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
      const queue = await queueOf(probe);
      await Promise.all([boundEvents(probe), queue.add(job.type, job, { jobId })]);
      // If gateways miss this message, they poll the queues.
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

/** Key layout of BullMQ: `<prefix>:<queue>:<part or job id>`. */
function queueKey(probe: string, part: string): string {
  return `${redisKeys.queuePrefix(probe)}:${JOB_QUEUE}:${part}`;
}
