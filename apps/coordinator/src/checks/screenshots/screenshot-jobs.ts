import { SCREENSHOT_JOB, screenshotJobId, type Job, type ScreenshotParams } from '@vantage/contract';
import type { Tracing } from '@vantage/telemetry';
import type { Redis } from 'ioredis';

import { isStoreFault, onStore } from '../../redis/store.ts';
import { errorName, startJobSpan, withSpan } from '../job-span.ts';
import { watchScreenshot } from '../store/records/new-check.ts';
import type { JobQueues } from '../store/job-queues.ts';

export interface ScreenshotJobsDependencies {
  readonly redis: Redis;
  /** Connection that adds jobs. */
  readonly queueRedis: Redis;
  readonly queues: JobQueues;
  readonly tracing: Tracing;
}

export function screenshotJob(checkId: string, params: ScreenshotParams, deadlineAt: number): Job {
  return { v: 1, checkId, type: SCREENSHOT_JOB, params, deadlineAt };
}

/**
 * Gives a probe the job of a screenshot, which is watched from then on.
 *
 * @returns false if the queue of the probe is broken
 * @throws StoreUnavailable
 */
export async function giveScreenshotJob(
  dependencies: ScreenshotJobsDependencies,
  probe: string,
  job: Job,
): Promise<boolean> {
  const { redis, queueRedis } = dependencies;
  await onStore(redis, () => watchScreenshot(redis, job.checkId, probe, job.deadlineAt));
  try {
    await onStore(queueRedis, () => enqueue(dependencies, probe, job));
    return true;
  } catch (error) {
    if (isStoreFault(error)) throw error;
    return false;
  }
}

async function enqueue({ queues, tracing }: ScreenshotJobsDependencies, probe: string, job: Job): Promise<void> {
  const span = startJobSpan(tracing, probe, job);
  try {
    await queues.add(probe, withSpan(job, span), screenshotJobId(job.checkId));
  } catch (error) {
    span.fail(errorName(error));
    throw error;
  } finally {
    span.end();
  }
}

/** Removes the job if it is still waiting. Never rejects. */
export async function takeBackScreenshotJob(
  { redis, queues }: ScreenshotJobsDependencies,
  checkId: string,
  probe: string,
): Promise<void> {
  await queues.removeWaiting(redis, [probe], screenshotJobId(checkId));
}
