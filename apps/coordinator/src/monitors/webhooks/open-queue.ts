import { redisKeys, WEBHOOK_QUEUE } from '@vantage/contract';
import type { Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';

import type { Log } from '../../redis/log.ts';
import { StoreUnavailable } from '../../redis/store-errors.ts';
import type { WebhookMessage } from './message.ts';
import { WEBHOOK_TIMEOUT_MS } from './send-webhook.ts';

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];
/** Times between the attempts of a message, as Standard Webhooks recommends. */
const RETRY_AFTER_MS = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR)];
/** Largest random part added to a delay, so that messages that failed together are not sent again all at once. */
const JITTER = 0.1;

/** Lifetime of a lock, longer than a job is held, so that none must be renewed. */
const LOCK_MS = WEBHOOK_TIMEOUT_MS + 10_000;
/** Interval of the search for jobs whose lock has expired, for example because their coordinator has ended. */
const STALLED_EVERY_MS = 5_000;
/** Number of given-up messages that are kept. */
const FAILED_KEPT = 100;
/** Maximum length of BullMQ's event stream, which is not read; the default is ten thousand. */
const MAX_EVENTS = 10;

/** The BullMQ queue of webhook messages. BullMQ keeps attempts, delays, locks and failed messages. */
export interface OpenQueue {
  readonly queue: Queue<WebhookMessage>;
  /** Jobs are taken by `getNextJob` without blocking, because queue and worker share a connection. */
  readonly worker: Worker<WebhookMessage>;
  /** Fails a job without further attempts. */
  readonly UnrecoverableError: new (message: string) => Error;
  readonly close: () => Promise<void>;
}

/**
 * @param redis fails fast; must be ready
 * @throws StoreUnavailable if it is not: BullMQ would wait for it without limit
 */
export async function openQueue(redis: Redis, log: Log): Promise<OpenQueue> {
  const { Queue, Worker, UnrecoverableError, createRedisBackend } = await import('bullmq');
  if (redis.status !== 'ready') throw new StoreUnavailable('Redis is not connected');
  const shared = { connection: redis, prefix: redisKeys.webhookQueuePrefix, skipVersionCheck: true };
  const queue = new Queue<WebhookMessage>(WEBHOOK_QUEUE, {
    ...shared,
    streams: { events: { maxLen: MAX_EVENTS } },
    defaultJobOptions: {
      attempts: RETRY_AFTER_MS.length + 1,
      backoff: { type: 'custom' },
      removeOnComplete: true,
      removeOnFail: { count: FAILED_KEPT },
      stackTraceLimit: 0,
    },
  });
  const worker = new Worker<WebhookMessage>(
    WEBHOOK_QUEUE,
    null,
    {
      ...shared,
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_EVERY_MS,
      // BullMQ fails a job that was under way in more than this number of coordinators that died: no message is given
      // up for that.
      maxStalledCount: Number.MAX_SAFE_INTEGER,
      settings: { backoffStrategy: retryAfterMs },
    },
    (name, options) => createRedisBackend(name, options),
  );
  const note = (error: Error): void => log.debug({ error: error.message }, 'queue of webhooks failed');
  queue.on('error', note);
  worker.on('error', note);
  void worker.startStalledCheckTimer();
  const close = async (): Promise<void> => void (await Promise.all([queue.close(), worker.close(true)]));
  return { queue, worker, UnrecoverableError, close };
}

/** @param attempts number of failed ones, from 1 */
export function retryAfterMs(attempts: number): number {
  return Math.round(RETRY_AFTER_MS[attempts - 1]! * (1 + JITTER * Math.random()));
}
