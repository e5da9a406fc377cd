import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { Checks } from '../../checks/checks.ts';
import type { RedisClock } from '../../redis/clock.ts';
import type { Log } from '../../redis/log.ts';
import { onStore } from '../../redis/store.ts';
import { StoreUnavailable } from '../../redis/store-errors.ts';
import type { WebhookQueue } from '../webhooks/webhook-queue.ts';
import { claimTasks, type ChangeTask, type OutboxTask, type PartingTask } from '../store/outbox-records.ts';
import { readParting } from './read-parting.ts';

/** Tasks claimed at a time. */
const AT_ONCE = 50;
/** Lease of a task, which normally takes less: one that takes longer may be repeated. */
const LEASE_MS = 15_000;

export interface OutboxDependencies {
  readonly redis: Redis;
  readonly clock: RedisClock;
  readonly read: Checks['read'];
  readonly addMessages: WebhookQueue['add'];
  readonly log: Log;
}

/**
 * Executes the tasks that follow from changes of states and paths. A task is removed when it is done: if a coordinator
 * ends before, another one does it. A message may be sent twice, with the same id.
 *
 * @returns a function that claims the tasks that are due and does them
 */
export function createOutbox(dependencies: OutboxDependencies): () => Promise<'again' | undefined> {
  const { redis } = dependencies;
  return async () => {
    const texts = await onStore(redis, () => claimTasks(redis, AT_ONCE, LEASE_MS));
    await Promise.all(texts.map((text) => runTask(dependencies, text)));
    return texts.length === AT_ONCE ? 'again' : undefined;
  };
}

/**
 * Does one task. Never rejects: if Redis is unavailable, the task is claimed again after its lease; after any other
 * error it is dropped.
 */
async function runTask(dependencies: OutboxDependencies, text: string): Promise<void> {
  const { redis, log } = dependencies;
  let monitor: string | undefined;
  try {
    const task = JSON.parse(text) as OutboxTask;
    monitor = task.monitor;
    await onStore(redis, () =>
      task.kind === 'change' ? follow(dependencies, task, text) : readParting(dependencies, task, text),
    );
  } catch (error) {
    if (error instanceof StoreUnavailable) return;
    log.error({ monitor, error }, 'task of a monitor failed');
    await redis.zrem(redisKeys.monitorOutbox, text).catch(() => undefined);
  }
}

async function follow(dependencies: OutboxDependencies, task: ChangeTask, text: string): Promise<void> {
  const { monitor, webhooks, further } = task;
  const messages = [task, ...(further === undefined ? [] : [further])].flatMap(({ messageId: id, event }) => {
    const body = bodyOf(event);
    return webhooks.map((webhook) => ({ monitor, webhook, id, body, tick: event.tick }));
  });
  // Added before the task is removed, so that none is lost: a repetition adds messages with the same ids.
  await dependencies.addMessages(messages);
  await replace(dependencies.redis, text, partingOf(task));
}

function bodyOf(event: ChangeTask['event']): string {
  const type = event.kind === 'state' ? `monitor.${event.to}` : `monitor.${event.kind}`;
  return JSON.stringify({ type, timestamp: event.at, data: event });
}

function partingOf({ monitor, atMs, messageId, webhooks, traceId, event }: ChangeTask): PartingTask | undefined {
  if (traceId === null || event.kind !== 'state') return undefined;
  const { tick, failing } = event;
  return { kind: 'parting', monitor, atMs, messageId, webhooks, traceId, tick, failing };
}

/** Replaces a task by the one that follows from it, if any, atomically. A repetition writes the same member. */
async function replace(redis: Redis, text: string, next: PartingTask | undefined): Promise<void> {
  const transaction = redis.multi();
  if (next !== undefined) transaction.zadd(redisKeys.monitorOutbox, 0, JSON.stringify(next));
  await transaction.zrem(redisKeys.monitorOutbox, text).exec();
}
