import { isCheckId, pendingResult, redisKeys, type Check, type PublicRequest } from '@vantage/contract';
import { linkSignal, type LinkedSignal } from '@vantage/timers';
import type { Redis } from 'ioredis';

import type { Channels } from '../../redis/channels.ts';
import { onStore } from '../../redis/store.ts';
import { readCheck, type CheckRecord } from '../store/records/check-records.ts';
import type { WaitingReaders } from '../store/records/write-results.ts';
import type { Checks } from '../checks.ts';
import { CheckEvicted } from '../../redis/store-errors.ts';
import { readScreenshotImage } from '../screenshots/screenshot-records.ts';
import type { MasterWatch } from '../../redis/server-state/master-watch.ts';

/** Pub/sub is lossy: waiting readers also poll at this interval. */
const POLL_AGAIN_MS = 2_000;

export interface Reads extends WaitingReaders {
  readonly read: Checks['read'];
  readonly screenshot: Checks['screenshot'];
}

/** Reads checks; a read can wait for completion. */
export function createReads(redis: Redis, channels: Channels, master: Pick<MasterWatch, 'find'>): Reads {
  return new CheckReads(redis, channels, master);
}

class CheckReads implements Reads {
  private readonly redis: Redis;
  private readonly channels: Channels;
  private readonly master: Pick<MasterWatch, 'find'>;
  private readonly waiting = new Map<string, Set<(completed: CheckRecord) => void>>();

  constructor(redis: Redis, channels: Channels, master: Pick<MasterWatch, 'find'>) {
    this.redis = redis;
    this.channels = channels;
    this.master = master;
  }

  readonly wait: Reads['wait'] = (id) => this.waiting.has(id);

  readonly tell: Reads['tell'] = (id, completed) => {
    for (const teller of this.waiting.get(id) ?? []) teller(completed);
  };

  readonly read: Reads['read'] = async (id, waitMs, signal) => {
    if (!isCheckId(id)) return undefined;
    const waits = waitMs > 0 && !signal.aborted;
    const record = waits ? await this.readWithin(id, linkSignal(signal, waitMs)) : await this.poll(id);
    if (record === undefined) return undefined;
    const image = record.screenshot.state === 'taken' ? await this.screenshotOf(id, record) : undefined;
    return present(id, record, image);
  };

  readonly screenshot: Reads['screenshot'] = async (id) => {
    const record = isCheckId(id) ? await this.poll(id) : undefined;
    if (record === undefined) return undefined;
    const png = await this.screenshotOf(id, record);
    return { screenshot: record.screenshot, png: png ?? null, createdAt: record.createdAt };
  };

  private poll(id: string): Promise<CheckRecord | undefined> {
    return onStore(this.redis, () => this.master.find(this.redis, () => readCheck(this.redis, id)));
  }

  private screenshotOf(id: string, { screenshot }: CheckRecord): Promise<Buffer | undefined> {
    return onStore(this.redis, () => readScreenshotImage(this.redis, id, screenshot));
  }

  private async readWithin(id: string, { signal, release }: LinkedSignal): Promise<CheckRecord | undefined> {
    try {
      return await this.readWaiting(id, signal);
    } finally {
      release();
    }
  }

  private async readWaiting(id: string, signal: AbortSignal): Promise<CheckRecord | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<CheckRecord | undefined>();
    const tellers = this.waiting.get(id) ?? new Set();
    this.waiting.set(id, tellers.add(resolve));
    const pollNow = (): void => {
      this.poll(id).then(
        (record) => (record === undefined || record.completedAt !== null ? resolve(record) : undefined),
        // Keeps waiting while Redis is unavailable.
        (error: unknown) => (error instanceof CheckEvicted ? reject(error) : undefined),
      );
    };
    const stopListening = this.channels.listen(redisKeys.checkEvents(id), (message) => {
      if (message === '') pollNow();
      // If this process completes the check, `tell` may resolve this read with the record in the same turn of the event
      // loop; otherwise the record is read.
      else if (isCompletion(message)) setImmediate(() => (tellers.has(resolve) ? pollNow() : undefined));
    });
    const polling = setInterval(pollNow, POLL_AGAIN_MS);
    const onAbort = (): void => void this.poll(id).then(resolve, reject);
    try {
      // Read after subscribing, so that no change is missed in between.
      const first = await this.poll(id);
      if (first === undefined || first.completedAt !== null) return first;
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
      return await promise;
    } finally {
      clearInterval(polling);
      signal.removeEventListener('abort', onAbort);
      stopListening();
      tellers.delete(resolve);
      if (tellers.size === 0 && this.waiting.get(id) === tellers) this.waiting.delete(id);
    }
  }
}

function isCompletion(message: string): boolean {
  return message.includes('"kind":"completed"');
}

/**
 * Converts a record to the public form. The results have no prototype, because a probe may be named like an inherited
 * property.
 */
function present(id: string, record: CheckRecord, image: Buffer | undefined): Check {
  const results = Object.create(null) as Record<string, Readonly<Record<string, unknown>>>;
  for (const probe of record.probes) {
    const result = resultOf(record, probe);
    const isItsImage = image !== undefined && probe === record.screenshot.probe;
    results[probe] = isItsImage ? { ...result, screenshot: image.toString('base64') } : result;
  }
  return {
    testId: id,
    type: record.type,
    host: record.host,
    ...(record.between === undefined ? {} : { between: [...record.between] }),
    ...(record.emptyLocations === undefined ? {} : { emptyLocations: [...record.emptyLocations] }),
    ...(record.request === undefined ? {} : { request: JSON.parse(record.request) as PublicRequest }),
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
