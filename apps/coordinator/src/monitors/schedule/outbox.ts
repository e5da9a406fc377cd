import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { Checks } from '../../checks/checks.ts';
import type { RedisClock } from '../../redis/clock.ts';
import type { Log } from '../../redis/log.ts';
import { onStore } from '../../redis/store.ts';
import { QueuesFull, StoreUnavailable } from '../../redis/store-errors.ts';
import type { ReadDefinition, StoredMonitor } from '../definition.ts';
import type { WebhookQueue } from '../webhooks/webhook-queue.ts';
import { claimTasks, type ChangeTask, type OutboxTask, type PartingTask } from '../store/outbox-records.ts';
import { readParting } from './read-parting.ts';
import type { ReadStored } from './run-ticks.ts';
import { readTrace } from './trace-request.ts';

/** Tasks claimed at a time. */
const AT_ONCE = 50;
/** Lease of a task, which normally takes less: one that takes longer may be repeated. */
const LEASE_MS = 15_000;
/**
 * Time after a change in which the start of its traceroute is tried again: a later traceroute may show another path.
 */
const TRACED_WITHIN_MS = 60_000;

export interface OutboxDependencies {
  readonly redis: Redis;
  readonly clock: RedisClock;
  readonly create: Checks['create'];
  readonly read: Checks['read'];
  readonly readStored: ReadStored;
  readonly readDefinition: ReadDefinition;
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
  if (!(await trace(dependencies, task))) return;
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

/** @returns false if the traceroute must be tried again */
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
