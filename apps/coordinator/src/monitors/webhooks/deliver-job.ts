import { redisKeys } from '@vantage/contract';
import type { Job } from 'bullmq';
import type { Redis } from 'ioredis';

import type { RedisClock } from '../../redis/clock.ts';
import type { Log } from '../../redis/log.ts';
import type { StoredMonitor } from '../definition.ts';
import { digestOf, type WebhookMessage } from './message.ts';
import type { OpenQueue } from './open-queue.ts';
import type { Receivers } from './receivers.ts';
import type { DeliveryOutcome, SendWebhook } from './send-webhook.ts';

/**
 * Minimum delay of a job whose receiver has its maximum of open requests, milliseconds; `stuck` if none of these has
 * ended for long. The delay is random, less than twice this.
 */
const PUT_OFF_MS = { busy: 500, stuck: 10_000 };

export interface JobDependencies extends Pick<OpenQueue, 'UnrecoverableError'> {
  readonly redis: Redis;
  readonly clock: Pick<RedisClock, 'now'>;
  readonly receivers: Receivers;
  readonly sendWebhook: SendWebhook;
  readonly log: Log;
}

/** Delivers the message of a job that this coordinator holds. Never rejects: without an outcome the lock expires. */
export async function deliverJob(dependencies: JobDependencies, job: Job<WebhookMessage>): Promise<void> {
  const { redis, clock, receivers, sendWebhook, log } = dependencies;
  const { monitor, id, body } = job.data;
  try {
    const url = await readUrl(redis, job.data);
    if (url === undefined) {
      log.info({ monitor, id }, 'webhook dropped: its monitor does not name it any more');
      return await complete(job);
    }
    const { host } = new URL(url);
    if (!(await receivers.acquire(host))) return await putOff(job, receivers.isStuck(host));
    const deliver = async (): Promise<DeliveryOutcome> =>
      sendWebhook({ id, url, body, sentAtMs: await clock.now(redis) });
    const outcome = await deliver().finally(() => receivers.release(host));
    await settle(dependencies, job, host, outcome);
  } catch (error) {
    log.warn({ monitor, id, error }, 'webhook is delivered again: Redis failed before its outcome was stored');
  }
}

/**
 * Reads the URL of a webhook; undefined if the monitor, or this webhook of it, was removed, also if a monitor of the
 * same name was made since then.
 */
async function readUrl(redis: Redis, { monitor, webhook, tick }: WebhookMessage): Promise<string | undefined> {
  const [stored, ended] = await Promise.all([
    redis.hget(redisKeys.monitors, monitor),
    redis.hget(redisKeys.monitorsEnded, monitor),
  ]);
  if (stored === null || (tick !== undefined && tick <= Number(ended ?? 0))) return undefined;
  const { request } = JSON.parse(stored) as StoredMonitor;
  return request.webhooks?.find((url) => digestOf(url) === webhook);
}

/** Delays a message, which does not count as an attempt. */
async function putOff(job: Job, isStuck: boolean): Promise<void> {
  const leastMs = isStuck ? PUT_OFF_MS.stuck : PUT_OFF_MS.busy;
  await job.moveToDelayed(Date.now() + leastMs * (1 + Math.random()), job.token);
}

async function complete(job: Job): Promise<void> {
  await job.moveToCompleted(null, job.token!, false);
}

async function settle(
  { UnrecoverableError, log }: JobDependencies,
  job: Job<WebhookMessage>,
  host: string,
  outcome: DeliveryOutcome,
): Promise<void> {
  const { monitor, id } = job.data;
  const fields = { monitor, id, host, attempt: job.attemptsMade + 1 };
  if (outcome.kind === 'delivered') {
    await complete(job);
    log.info(fields, 'webhook delivered');
    return;
  }
  const { kind, reason } = outcome;
  await job.moveToFailed(kind === 'refused' ? new UnrecoverableError(reason) : new Error(reason), job.token!, false);
  if (job.finishedOn === undefined) {
    log.warn({ ...fields, reason, nextAttemptSeconds: Math.round(job.delay / 1_000) }, 'webhook failed');
  } else log.error({ ...fields, reason }, 'webhook given up');
}
