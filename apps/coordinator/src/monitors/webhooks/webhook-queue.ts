import { redisKeys, WEBHOOK_QUEUE } from '@vantage/contract';
import type { Job } from 'bullmq';
import type { Redis } from 'ioredis';

import type { RedisClock } from '../../redis/clock.ts';
import type { Log } from '../../redis/log.ts';
import { onStore } from '../../redis/store.ts';
import { deliverJob } from './deliver-job.ts';
import type { WebhookMessage } from './message.ts';
import { openQueue, type OpenQueue } from './open-queue.ts';
import { createReceivers } from './receivers.ts';
import type { SendWebhook } from './send-webhook.ts';

/** Maximum number of messages that are taken at a time, and of open requests per receiver. */
const [MOST_TAKEN, MOST_OF_RECEIVER] = [500, 10];
const STUCK_AFTER_MS = 1_000;
/** Maximum number of jobs that a call of the task takes; it is called again immediately while there are more. */
const AT_ONCE = 100;
/** Pause while no more jobs can be taken. */
const BUSY_MS = 100;
/** Keys of the queue that exist while it has jobs to deliver. */
const LISTS = ['wait', 'delayed', 'active'].map((list) => `${redisKeys.webhookQueuePrefix}:${WEBHOOK_QUEUE}:${list}`);

export interface WebhookQueueDependencies {
  /** Connection whose commands fail fast while Redis is unavailable. */
  readonly redis: Redis;
  readonly clock: Pick<RedisClock, 'now'>;
  readonly drawId: () => string;
  /** Undefined without a secret to sign with: another coordinator may have it. */
  readonly sendWebhook: SendWebhook | undefined;
  readonly log: Log;
}

/** The messages to webhooks, each a job of a BullMQ queue. */
export interface WebhookQueue {
  /**
   * Adds messages, and starts to deliver. One whose job exists is not added again.
   *
   * @throws if some may not have been added
   */
  readonly add: (messages: readonly WebhookMessage[]) => Promise<void>;
  /**
   * Takes the jobs that are due and starts their deliveries, without waiting for their ends. Resolves to `again` if
   * more jobs may be due, to a delay in milliseconds while no more can be taken, otherwise to undefined.
   */
  readonly poll: () => Promise<'again' | number | undefined>;
  /** Takes no more jobs. Resolves when the started deliveries have ended. */
  readonly close: () => Promise<void>;
}

export function createWebhookQueue(dependencies: WebhookQueueDependencies): WebhookQueue {
  const { redis, clock, drawId, sendWebhook, log } = dependencies;
  const receivers = createReceivers({ mostOfReceiver: MOST_OF_RECEIVER, stuckAfterMs: STUCK_AFTER_MS });
  const taken = new Set<Promise<void>>();
  let opening: Promise<OpenQueue> | undefined;
  let isStopped = false;
  // Loaded at the start, because loading blocks the process, which would delay an alarm.
  if (sendWebhook !== undefined) void import('bullmq');

  const opened = (): Promise<OpenQueue> => {
    opening ??= openQueue(redis, log).catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  /** @returns false if no job is due */
  const takeNext = async (send: SendWebhook): Promise<boolean> => {
    const { worker, UnrecoverableError } = await opened();
    const job = (await worker.getNextJob(drawId(), { block: false })) as Job<WebhookMessage> | undefined;
    if (job === undefined) return false;
    const delivery = deliverJob({ redis, clock, log, receivers, UnrecoverableError, sendWebhook: send }, job);
    taken.add(delivery);
    void delivery.then(() => taken.delete(delivery));
    return true;
  };
  const poll: WebhookQueue['poll'] = async () => {
    if (sendWebhook === undefined || isStopped) return undefined;
    return onStore(redis, async () => {
      if ((await redis.exists(LISTS)) === 0) return undefined;
      for (let count = 0; count < AT_ONCE; count += 1) {
        if (taken.size >= MOST_TAKEN) return BUSY_MS;
        if (isStopped || !(await takeNext(sendWebhook))) return undefined;
      }
      return 'again';
    });
  };
  return {
    add: async (messages) => {
      if (messages.length === 0) return;
      const { queue } = await opened();
      // BullMQ does not allow colons in job ids.
      const jobOf = (data: WebhookMessage) => ({
        name: 'message',
        data,
        opts: { jobId: `${data.id}.${data.webhook}` },
      });
      await queue.addBulk(messages.map(jobOf));
      void poll().catch(() => undefined);
    },
    poll,
    close: async () => {
      isStopped = true;
      receivers.stop();
      await Promise.all(taken);
      await (await opening)?.close();
    },
  };
}
