import { setTimeout as sleep } from 'node:timers/promises';

import { checkOfScreenshotJob, JOB_QUEUE, redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { Log } from '../../redis/log.ts';

/**
 * Number of active jobs from which finished ones are removed. An agent that runs more jobs loses none of them, because
 * jobs that are not over stay.
 */
export const MOST_KEPT = 64;
/** Maximum jobs read at a time. */
const LOOKED_AT_ONCE = 1_000;
const POLL_INTERVAL_MS = 2_000;
/** Time for an agent to remove a job after its result; after it, the job is removed here. */
const REMOVED_WITHIN_MS = 1_000;
/** A screenshot job that was added this long ago is over: no check lasts as long. */
const SCREENSHOT_OVER_MS = 120_000;

/**
 * Removes jobs that are over from the list of active jobs of a probe that keeps many: those with a final result, those
 * whose check is no longer stored, and old ones of screenshots. A stolen login could lengthen the list without end, and
 * commands on a long list block Redis.
 */
export interface KeptJobs {
  /** Reads the list of a probe, at most every `POLL_INTERVAL_MS`, and removes jobs that are over. Never throws. */
  readonly note: (probe: string) => void;
}

export function createKeptJobs(redis: Redis, log: Log): KeptJobs {
  const polledAt = new Map<string, number>();

  const release = async (probe: string): Promise<void> => {
    const active = keyOf(probe, 'active');
    // Reads the oldest jobs: jobs are taken to the head of the list. LREM searches from the same end.
    const ids = await redis.lrange(active, -LOOKED_AT_ONCE, -1);
    const nowMs = Number((await redis.time())[0]) * 1_000;
    const isOver = await Promise.all(ids.map((id) => isCheckOver(redis, probe, id, nowMs)));
    const over = ids.filter((_id, index) => isOver[index]);
    await sleep(REMOVED_WITHIN_MS, undefined, { ref: false });
    const removed = await Promise.all(
      over.map((id) => Promise.all([redis.lrem(active, -1, id), redis.unlink(keyOf(probe, id))])),
    );
    const jobs = removed.filter(([count]) => count > 0).length;
    if (jobs > 0) log.warn({ probe, jobs }, 'jobs of finished checks removed: the agent keeps them');
  };

  return {
    note: (probe) => {
      const nowMs = performance.now();
      if (nowMs - (polledAt.get(probe) ?? Number.NEGATIVE_INFINITY) < POLL_INTERVAL_MS) return;
      polledAt.set(probe, nowMs);
      release(probe).catch((error: unknown) => log.debug({ probe, error }, 'kept jobs could not be removed'));
    },
  };
}

async function isCheckOver(redis: Redis, probe: string, id: string, nowMs: number): Promise<boolean> {
  if (checkOfScreenshotJob(id) !== undefined) {
    return nowMs - Number(await redis.hget(keyOf(probe, id), 'timestamp')) > SCREENSHOT_OVER_MS;
  }
  // Empty until the final result; null if the check is not stored any more.
  return (await redis.hget(redisKeys.checkResults(id), probe)) !== '';
}

/** Key layout of BullMQ: `<prefix>:<queue>:<part or job id>`. */
function keyOf(probe: string, part: string): string {
  return `${redisKeys.queuePrefix(probe)}:${JOB_QUEUE}:${part}`;
}
