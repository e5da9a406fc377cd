import { escapeText, redisKeys, type MonitorEvent } from '@vantage/contract';
import { partingSentence } from '@vantage/summary';
import type { Redis } from 'ioredis';

import type { Checks } from '../../checks/checks.ts';
import type { RedisClock } from '../../redis/clock.ts';
import { CheckEvicted } from '../../redis/store-errors.ts';
import type { WebhookQueue } from '../webhooks/webhook-queue.ts';
import { commitParting, type PartingTask } from '../store/outbox-records.ts';

/** A traceroute that is not completed is read again after this time. */
const AGAIN_MS = 1_000;
/** A traceroute that is not completed this long after the change is taken as it is. */
const GIVEN_UP_MS = 180_000;

export interface PartingDependencies {
  readonly redis: Redis;
  readonly clock: RedisClock;
  readonly read: Checks['read'];
  readonly addMessages: WebhookQueue['add'];
}

/** Reads the traceroute that followed a change to bad and, at its end, reports where the paths diverge, if they do. */
export async function readParting(
  { redis, clock, read, addMessages }: PartingDependencies,
  task: PartingTask,
  text: string,
): Promise<void> {
  const { monitor, traceId, failing, tick, messageId, webhooks, atMs } = task;
  const check = await read(traceId, 0, AbortSignal.timeout(AGAIN_MS)).catch((error: unknown) => {
    if (error instanceof CheckEvicted) return undefined;
    throw error;
  });
  const nowMs = await clock.now(redis);
  if (check?.status === 'pending' && nowMs - atMs < GIVEN_UP_MS) {
    await redis.zadd(redisKeys.monitorOutbox, 'XX', nowMs + AGAIN_MS, text);
    return;
  }
  const sentence = check === undefined ? undefined : partingSentence(check, failing);
  if (sentence === undefined) {
    await redis.zrem(redisKeys.monitorOutbox, text);
    return;
  }
  const shown = escapeText(sentence, 1_024);
  const at = new Date(nowMs).toISOString();
  const event: MonitorEvent = {
    kind: 'parting',
    monitor,
    tick,
    at,
    checkId: traceId,
    failing: [...failing],
    sentence: shown,
  };
  const body = JSON.stringify({ type: 'monitor.parting', timestamp: at, data: event });
  const id = `${messageId}_parting`;
  await addMessages(webhooks.map((webhook) => ({ monitor, webhook, id, body, tick })));
  await commitParting(redis, { text, name: monitor }, { traceId, sentence: shown }, event);
}
