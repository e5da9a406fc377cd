import { pendingResult, redisKeys, type Check } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { Channels } from '../redis/channels.ts';
import { onStore } from '../redis/store.ts';
import { readCheck, type CheckRecord } from './check-records.ts';
import type { Checks } from './checks.ts';

const CHECK_ID = /^[A-Za-z0-9_-]{22}$/;

/** A message can be lost; who waits looks again by himself after this time. */
const LOOK_AGAIN_MS = 2_000;

/** Reads checks, and holds the answer until one is completed. */
export function createReads(redis: Redis, channels: Channels): Checks['read'] {
  const look = (id: string): Promise<CheckRecord | undefined> => onStore(redis, () => readCheck(redis, id));

  return async (id, waitMs, signal) => {
    if (!CHECK_ID.test(id)) return undefined;
    const first = await look(id);
    if (first === undefined) return undefined;
    if (first.completedAt !== null || waitMs <= 0 || signal.aborted) return present(id, first);

    await completion(channels, id, () => look(id), AbortSignal.any([signal, AbortSignal.timeout(waitMs)]));
    const last = await look(id);
    return last === undefined ? undefined : present(id, last);
  };
}

/** Resolves when the check is completed or gone, or the signal is aborted. While the store is away it waits on. */
async function completion(
  channels: Channels,
  id: string,
  look: () => Promise<CheckRecord | undefined>,
  signal: AbortSignal,
): Promise<void> {
  const done = Promise.withResolvers<void>();
  const lookNow = (): void => {
    look().then(
      (record) => (record === undefined || record.completedAt !== null ? done.resolve() : undefined),
      () => undefined,
    );
  };
  signal.addEventListener('abort', () => done.resolve(), { once: true });
  const looking = setInterval(lookNow, LOOK_AGAIN_MS);
  const stopListening = await channels.listen(redisKeys.checkEvents(id), (message) => {
    if (message === '') lookNow();
    else if (isCompletion(message)) done.resolve();
  });
  // What was completed between the first look and the subscription sent its message to nobody.
  lookNow();
  await done.promise;
  clearInterval(looking);
  stopListening();
}

function isCompletion(message: string): boolean {
  return message.includes('"kind":"completed"');
}

/** The check as a caller reads it. The map of results has no prototype: a probe's name is a key and nothing else. */
function present(id: string, record: CheckRecord): Check {
  const results = Object.create(null) as Record<string, Readonly<Record<string, unknown>>>;
  for (const probe of record.probes) results[probe] = resultOf(record, probe);
  return {
    testId: id,
    type: record.type,
    host: record.host,
    status: record.completedAt === null ? 'pending' : 'completed',
    createdAt: new Date(record.createdAt).toISOString(),
    completedAt: record.completedAt === null ? null : new Date(record.completedAt).toISOString(),
    results,
  };
}

function resultOf(record: CheckRecord, probe: string): Readonly<Record<string, unknown>> {
  const final = record.finals.get(probe);
  if (final !== undefined) return JSON.parse(final) as Record<string, unknown>;
  const partial = record.partials.get(probe);
  if (partial === undefined) return pendingResult;
  return { ...pendingResult, ...(JSON.parse(partial) as object) };
}
