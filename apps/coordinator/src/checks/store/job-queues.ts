import { JOB_QUEUE, redisKeys, type Job } from '@vantage/contract';
import { isCluster } from '@vantage/redis-connections';
import { within } from '@vantage/timers';
import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';

import type { Log } from '../../redis/log.ts';
import { defineScript, replyError, runScript } from '../../redis/scripts.ts';

/** Options of each job: a finished one is removed, because its results travel by the result stream. */
export const JOB_OPTIONS = { attempts: 1, removeOnComplete: true, removeOnFail: true } as const;

/** Length to which BullMQ trims its event streams approximately; they are not read. The default is ten thousand. */
const MAX_EVENTS = 10;

/** Time for closing a BullMQ queue, which may hang. */
const CLOSE_WITHIN_MS = 500;

/**
 * Removes a waiting job from queues. BullMQ's own removal would follow keys that the agent may have written.
 * KEYS wait list and job of each queue. ARGV job id. Returns for each queue 1 if the job was waiting, 0, or an error.
 * Searches from the end of the list at which agents take jobs, where the oldest are.
 */
export const removeWaitingJobScript = defineScript(
  'allow-oom',
  `
local said = {}
for i = 1, #KEYS, 2 do
  local removed = redis.pcall('LREM', KEYS[i], -1, ARGV[1])
  if type(removed) == 'table' then
    removed = removed.err
  elseif removed == 1 then
    redis.call('DEL', KEYS[i + 1])
  end
  said[#said + 1] = removed
end
return said
`,
);

/** One BullMQ queue per probe, all on one connection. */
export interface JobQueues {
  /**
   * Adds a probe's job; its id is that of the check by default. Requires a ready connection: on any other, a new
   * BullMQ queue waits without limit.
   */
  readonly add: (probe: string, job: Job, jobId?: string) => Promise<void>;
  /**
   * Removes a waiting job of some probes, on a single server with one command.
   *
   * @returns for each probe whether the job was waiting, or the error of its queue
   */
  readonly removeWaiting: (
    redis: Redis,
    probes: readonly string[],
    jobId: string,
  ) => Promise<readonly PromiseSettledResult<boolean>[]>;
  /** Closes the queue of a probe that was removed. */
  readonly forget: (probe: string) => void;
  readonly close: () => Promise<void>;
}

export function createJobQueues(connection: Redis, log: Log): JobQueues {
  const queues = new Map<string, Queue>();
  /** Probes whose event stream was bounded on this connection: Redis may restart without that setting. */
  const bounded = new Set<string>();
  connection.on('close', () => bounded.clear());

  // BullMQ takes 5 MiB. It is loaded in advance for a Cluster only: on a single server `startScript` adds the jobs of
  // checks.
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
      // Not an error if the message is lost: gateways also poll the queues.
      void connection.publish(redisKeys.jobsAdded, probe).catch(() => undefined);
    },
    removeWaiting: async (redis, probes, jobId) => {
      const groups = isCluster(redis) || probes.length === 0 ? probes.map((probe) => [probe]) : [probes];
      const outcomes = await Promise.all(groups.map((group) => removeFrom(redis, group, jobId)));
      return outcomes.flat();
    },
    forget: (probe) => {
      bounded.delete(probe);
      void closeQueue(queues.get(probe));
      queues.delete(probe);
    },
    close: async () => {
      await Promise.all([...queues.values()].map(closeQueue));
    },
  };
}

function closeQueue(queue: Queue | undefined): Promise<void> {
  return within(queue?.close(), CLOSE_WITHIN_MS);
}

/** @param probes with queues on one server */
async function removeFrom(
  redis: Redis,
  probes: readonly string[],
  jobId: string,
): Promise<readonly PromiseSettledResult<boolean>[]> {
  const keys = probes.flatMap((probe) => [queueKey(probe, 'wait'), queueKey(probe, jobId)]);
  try {
    const said = (await runScript(redis, removeWaitingJobScript, keys, [jobId])) as readonly (number | string)[];
    return said.map((one) =>
      typeof one === 'string'
        ? { status: 'rejected', reason: replyError(one) }
        : { status: 'fulfilled', value: one === 1 },
    );
  } catch (reason) {
    return probes.map(() => ({ status: 'rejected', reason }));
  }
}

/** Key layout of BullMQ: `<prefix>:<queue>:<part or job id>`. */
function queueKey(probe: string, part: string): string {
  return `${redisKeys.queuePrefix(probe)}:${JOB_QUEUE}:${part}`;
}
