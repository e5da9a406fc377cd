import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { Checks } from '../../checks/checks.ts';
import type { RedisClock } from '../../redis/clock.ts';
import type { Log } from '../../redis/log.ts';
import { onStore } from '../../redis/store.ts';
import { QueuesFull, StoreUnavailable } from '../../redis/store-errors.ts';
import type { ReadDefinition, StoredMonitor } from '../definition.ts';
import type { Delivery, SendWebhook } from '../webhooks/send-webhook.ts';
import { claimTasks, type ChangeTask, type OutboxTask, type PartingTask } from './monitor-records.ts';
import { readParting } from './read-parting.ts';
import type { ReadStored } from './run-ticks.ts';
import { createTaskQueue } from './task-queue.ts';
import { readTrace } from './trace-request.ts';

/** Tasks claimed at a time. */
const AT_ONCE = 50;
/** Lease of a task; longer than a webhook takes. */
const LEASE_MS = 15_000;
/** A task that has waited longer is not begun: the lease could end before it. */
const BEGUN_WITHIN_MS = 4_000;
/** Interval at which leases of waiting tasks are renewed, many with one command. */
const RENEW_AFTER_MS = 1_500;
const RENEWED_AT_ONCE = 100;
/** A receiver that does not answer holds ten of its webhooks; fifty such receivers would delay others. */
const QUEUE = { mostOfReceiver: 10, most: 500, mostWaiting: 5_000 };
/** A later traceroute would not show the path at the time of the change. */
const TRACED_WITHIN_MS = 60_000;
const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];
/** Times between the attempts of a webhook, as Standard Webhooks recommends. */
const RETRY_AFTER_MS = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR)];

export interface OutboxDependencies {
  readonly redis: Redis;
  readonly clock: RedisClock;
  readonly create: Checks['create'];
  readonly read: Checks['read'];
  readonly readStored: ReadStored;
  readonly readDefinition: ReadDefinition;
  /** Undefined without a secret to sign with. */
  readonly sendWebhook: SendWebhook | undefined;
  readonly log: Log;
}

/** A task that this coordinator has claimed. */
interface ClaimedTask {
  readonly text: string;
  readonly task: OutboxTask;
  /** Time of the process when the lease began. */
  leasedAt: number;
}

export interface Outbox {
  /** Claims the tasks that are due and starts them, without waiting for their ends. */
  readonly look: () => Promise<'again' | undefined>;
  /** Resolves when the tasks that were begun have ended. */
  readonly close: () => Promise<void>;
}

/**
 * Executes the tasks that follow from changed states. A task is written together with the state and removed when it
 * is done: if a coordinator ends in between, another one does it. A traceroute that was started is not started again;
 * a webhook may come twice, with the same id.
 */
export function createOutbox(dependencies: OutboxDependencies): Outbox {
  const { redis } = dependencies;
  const queue = createTaskQueue<ClaimedTask>({
    ...QUEUE,
    run: async (claimed) => {
      if (performance.now() - claimed.leasedAt > BEGUN_WITHIN_MS) return;
      await runTask(dependencies, claimed);
      // Webhooks of the change are due now.
      if (claimed.task.kind !== 'delivery') await look().catch(() => undefined);
    },
  });
  const look: Outbox['look'] = async () => {
    await onStore(redis, () => renew(dependencies, queue.waiting()));
    const leasedAt = performance.now();
    const texts = await onStore(redis, () => claimTasks(redis, AT_ONCE, LEASE_MS));
    for (const text of texts) {
      const task = JSON.parse(text) as OutboxTask;
      // A task that the queue does not keep is claimed again after its lease.
      queue.add(task.kind === 'delivery' ? new URL(task.url).host : '', { text, task, leasedAt });
    }
    return texts.length === AT_ONCE ? 'again' : undefined;
  };
  return { look, close: queue.stop };
}

async function renew({ redis, clock }: OutboxDependencies, waiting: readonly ClaimedTask[]): Promise<void> {
  const now = performance.now();
  // After its lease another coordinator may have the task.
  const due = waiting.filter(({ leasedAt }) => now - leasedAt >= RENEW_AFTER_MS && now - leasedAt < LEASE_MS);
  for (let index = 0; index < due.length; index += RENEWED_AT_ONCE) {
    const some = due.slice(index, index + RENEWED_AT_ONCE);
    const leasedAt = performance.now();
    const untilMs = (await clock.now(redis)) + LEASE_MS;
    // XX: a task that was done meanwhile is not added again.
    await redis.zadd(redisKeys.monitorOutbox, 'XX', ...some.flatMap(({ text }) => [untilMs, text]));
    for (const claimed of some) claimed.leasedAt = leasedAt;
  }
}

/** Never rejects: a task that could not be done is claimed again after its lease. */
async function runTask(dependencies: OutboxDependencies, { task, text }: ClaimedTask): Promise<void> {
  const { redis, log } = dependencies;
  try {
    await onStore(redis, () =>
      task.kind === 'change'
        ? follow(dependencies, task, text)
        : task.kind === 'parting'
          ? readParting(dependencies, task, text)
          : deliver(dependencies, task, text),
    );
  } catch (error) {
    if (error instanceof StoreUnavailable) return;
    log.error({ monitor: task.monitor, error }, 'task of a monitor failed');
    await redis.zrem(redisKeys.monitorOutbox, text).catch(() => undefined);
  }
}

async function follow(dependencies: OutboxDependencies, task: ChangeTask, text: string): Promise<void> {
  if (!(await trace(dependencies, task))) return;
  const { monitor, messageId: id, event, webhooks } = task;
  const type = event.kind === 'state' ? `monitor.${event.to}` : `monitor.${event.kind}`;
  const body = JSON.stringify({ type, timestamp: event.at, data: event });
  const deliveries = webhooks.map((url): Delivery => ({ kind: 'delivery', monitor, id, url, body, attempts: 0 }));
  await replace(dependencies.redis, text, [...deliveries, ...partingOf(task)], 0);
}

function partingOf({ monitor, atMs, messageId, webhooks, traceId, event }: ChangeTask): readonly PartingTask[] {
  if (traceId === null || event.kind !== 'state') return [];
  const { tick, failing } = event;
  return [{ kind: 'parting', monitor, atMs, messageId, webhooks, traceId, tick, failing }];
}

/** Atomic: the task is replaced by those that follow from it, and a repetition writes the same members. */
async function replace(
  redis: Redis,
  text: string,
  tasks: readonly (Delivery | PartingTask)[],
  dueMs: number,
): Promise<void> {
  const transaction = redis.multi();
  for (const task of tasks) transaction.zadd(redisKeys.monitorOutbox, dueMs, JSON.stringify(task));
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
