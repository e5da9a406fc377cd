import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { Checks } from '../../checks/checks.ts';
import type { RedisClock } from '../../redis/clock.ts';
import type { Log } from '../../redis/log.ts';
import { onStore } from '../../redis/store.ts';
import { QueuesFull, StoreUnavailable } from '../../redis/store-errors.ts';
import type { ReadDefinition, StoredMonitor } from '../definition.ts';
import type { Delivery, SendWebhook } from '../webhooks/send-webhook.ts';
import { claimTasks, type ChangeTask, type OutboxTask } from './monitor-records.ts';
import type { ReadStored } from './run-ticks.ts';
import { readTrace } from './trace-request.ts';

const AT_ONCE = 20;
/** A coordinator that has claimed a task has so long to do it; longer than a webhook takes. */
const LEASE_MS = 15_000;
/** A path that is traced later shows another moment. */
const TRACED_WITHIN_MS = 60_000;
const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];
/** Times between the attempts of a webhook, as Standard Webhooks recommends. */
const RETRY_AFTER_MS = [
  ...[5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR],
  ...[10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR],
];

export interface OutboxDependencies {
  readonly redis: Redis;
  readonly clock: RedisClock;
  readonly create: Checks['create'];
  readonly readStored: ReadStored;
  readonly readDefinition: ReadDefinition;
  /** Undefined without a secret to sign with. */
  readonly sendWebhook: SendWebhook | undefined;
  readonly log: Log;
}

/**
 * Does what follows from changed states. A task is written together with the state and removed when it is done: if a
 * coordinator ends in between, another one does it. A traceroute that was started is not started again; a webhook may come
 * twice, with the same id.
 *
 * @returns one look
 */
export function createOutbox(dependencies: OutboxDependencies): () => Promise<'again' | undefined> {
  const { redis, log } = dependencies;
  return async () => {
    const tasks = await onStore(redis, () => claimTasks(redis, AT_ONCE, LEASE_MS));
    const ends = tasks.map(async (text) => {
      const task = JSON.parse(text) as OutboxTask;
      try {
        await onStore(redis, () =>
          task.kind === 'change' ? follow(dependencies, task, text) : deliver(dependencies, task, text),
        );
      } catch (error) {
        if (error instanceof StoreUnavailable) return;
        log.error({ monitor: task.monitor, error }, 'task of a monitor failed');
        await redis.zrem(redisKeys.monitorOutbox, text);
      }
    });
    await Promise.all(ends);
    return tasks.length > 0 ? 'again' : undefined;
  };
}

async function follow(dependencies: OutboxDependencies, task: ChangeTask, text: string): Promise<void> {
  if (!(await trace(dependencies, task))) return;
  const { monitor, messageId: id, event, webhooks } = task;
  const type = event.kind === 'state' ? `monitor.${event.to}` : 'monitor.probe';
  const body = JSON.stringify({ type, timestamp: event.at, data: event });
  const deliveries = webhooks.map((url): Delivery => ({ kind: 'delivery', monitor, id, url, body, attempts: 0 }));
  await replace(dependencies.redis, text, deliveries, 0);
}

/** The task and what comes in its place change together: a repetition makes the same members. */
async function replace(redis: Redis, text: string, deliveries: readonly Delivery[], dueMs: number): Promise<void> {
  const transaction = redis.multi();
  for (const delivery of deliveries) transaction.zadd(redisKeys.monitorOutbox, dueMs, JSON.stringify(delivery));
  await transaction.zrem(redisKeys.monitorOutbox, text).exec();
}

async function deliver(
  { redis, clock, sendWebhook, log }: OutboxDependencies,
  task: Delivery,
  text: string,
): Promise<void> {
  const { monitor, id, url, attempts } = task;
  // Another coordinator may have the secret.
  if (sendWebhook === undefined) return;
  const outcome = await sendWebhook(task);
  const fields = { monitor, id, host: new URL(url).host, attempt: attempts + 1 };
  if (outcome.kind === 'delivered') {
    log.info(fields, 'webhook delivered');
    return replace(redis, text, [], 0);
  }
  const { reason } = outcome;
  const waitMs = outcome.kind === 'refused' ? undefined : RETRY_AFTER_MS[attempts];
  if (waitMs === undefined) {
    log.error({ ...fields, reason }, 'webhook given up');
    return replace(redis, text, [], 0);
  }
  log.warn({ ...fields, reason, nextAttemptSeconds: waitMs / SECOND }, 'webhook failed');
  await replace(redis, text, [{ ...task, attempts: attempts + 1 }], (await clock.now(redis)) + waitMs);
}

/** @returns false if it is to be tried again */
async function trace(dependencies: OutboxDependencies, task: ChangeTask): Promise<boolean> {
  const { redis, clock, create, readStored, readDefinition, log } = dependencies;
  const { monitor, traceId, probes, atMs } = task;
  if (traceId === null) return true;
  const stored = await redis.hget(redisKeys.monitors, monitor);
  const reading = stored === null ? undefined : readStored(monitor, stored);
  if (stored === null || reading?.valid !== true) return true;
  const { allow } = JSON.parse(stored) as StoredMonitor;
  const request = readTrace(readDefinition, reading.definition, probes, allow);
  if (!request.valid) return true;
  try {
    const creation = await create(request.definition.accepted, undefined, 'monitors', traceId);
    if (!creation.created) log.warn({ monitor, reason: creation.reason }, 'traceroute of a monitor was not started');
    return true;
  } catch (error) {
    if (!(error instanceof QueuesFull) && !(error instanceof StoreUnavailable)) throw error;
    return (await clock.now(redis)) - atMs > TRACED_WITHIN_MS;
  }
}
