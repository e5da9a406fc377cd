import {
  entryKinds,
  isCheckId,
  MAX_RESULT_BYTES,
  MAX_SCREENSHOT_BYTES,
  redisKeys,
  RESULT_GROUP,
  type EntryKind,
} from '@vantage/contract';
import { isTraceparent } from '@vantage/telemetry';
import type { Redis } from 'ioredis';

import { runScript, runScriptForBytes } from '../../redis/scripts.ts';
import { onStore, replyCode } from '../../redis/store.ts';
import { claimEntriesScript, MOST_FIELDS, takeEntriesScript } from '../store/check-scripts.ts';

/**
 * All coordinators read as this one consumer: an entry still goes to one of them only, what a dead one held is found by
 * its idle time, and no consumer is left behind by a process that is gone.
 */
const CONSUMER = 'coordinator';

/** Most entries of one reading. */
const FULL_BATCH = 64;
/** Most that are taken over at once: each may be as large as a picture. */
const CLAIMED_AT_ONCE = 8;

/** One entry of a probe's result stream. */
export interface StreamEntry {
  readonly id: string;
  /** Undefined where the entry is no result. */
  readonly check: string | undefined;
  readonly kind: EntryKind;
  readonly data: string;
  /** What a screenshot is of bytes. */
  readonly png: Buffer | undefined;
  /** The agent’s place in the trace of its job, where it keeps one. */
  readonly traceparent?: string | undefined;
  /** True if it is larger than any that an agent writes. */
  readonly isOversized: boolean;
}

/**
 * Entries that no coordinator has read yet.
 *
 * @param done ids of entries that are worked off: acknowledged and deleted by the same command
 */
export async function readNew(redis: Redis, probe: string, done: readonly string[]): Promise<NewEntries> {
  const key = redisKeys.results(probe);
  const reply = await withGroup(redis, key, () =>
    runScriptForBytes(redis, takeEntriesScript, [key], [RESULT_GROUP, CONSUMER, FULL_BATCH, ...done]),
  );
  const [entries, more] = (reply ?? [[], 0]) as readonly [readonly RawEntry[], number];
  return { entries: entries.map(readEntry), more: more === 1 };
}

export interface NewEntries {
  readonly entries: readonly StreamEntry[];
  /** True where this was not all, or may not have been. */
  readonly more: boolean;
}

/**
 * Entries that were read and not acknowledged for a time.
 *
 * @param cursor where the call before ended
 * @returns with `next` where there may be more
 */
export async function claimIdle(
  redis: Redis,
  probe: string,
  idleMs: number,
  cursor = '0-0',
): Promise<{ readonly entries: readonly StreamEntry[]; readonly next: string | undefined }> {
  const key = redisKeys.results(probe);
  const reply: unknown = await withGroup(redis, key, () =>
    runScriptForBytes(redis, claimEntriesScript, [key], [RESULT_GROUP, CONSUMER, idleMs, cursor, CLAIMED_AT_ONCE]),
  );
  const [next, raw] = (reply ?? ['0-0', []]) as readonly [Buffer | string, readonly (RawEntry | null)[]];
  const entries = raw.filter((entry) => entry !== null).map(readEntry);
  return { entries, next: String(next) === '0-0' ? undefined : String(next) };
}

/** Acknowledges entries and deletes them. */
export async function acknowledge(redis: Redis, probe: string, ids: readonly string[]): Promise<void> {
  await onStore(redis, () =>
    runScript(redis, takeEntriesScript, [redisKeys.results(probe)], [RESULT_GROUP, CONSUMER, 0, ...ids]),
  );
}

/**
 * Makes the consumer group where there is none: a new probe, or a Redis that lost it. From the start of the stream.
 *
 * @returns undefined where the probe has no stream yet
 */
async function withGroup<T>(redis: Redis, key: string, read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await onStore(redis, read);
  } catch (error) {
    if (replyCode(error) !== 'NOGROUP') throw error;
  }
  if ((await onStore(redis, () => redis.exists(key))) === 0) return undefined;
  await onStore(redis, () => redis.xgroup('CREATE', key, RESULT_GROUP, '0', 'MKSTREAM')).catch((error: unknown) => {
    // Another coordinator was first.
    if (replyCode(error) !== 'BUSYGROUP') throw error;
  });
  return onStore(redis, read);
}

type RawEntry = readonly [id: Buffer, fields: readonly Buffer[] | null];

function readEntry([rawId, flat]: RawEntry): StreamEntry {
  const id = rawId.toString();
  const fields = new Map<string, Buffer>();
  for (let index = 0; index + 1 < (flat?.length ?? 0); index += 2)
    fields.set(flat![index]!.toString(), flat![index + 1]!);
  const isOversized = (flat?.length ?? 0) >= MOST_FIELDS || [...fields].some(isTooLong);
  const check = fields.get('check')?.toString() ?? '';
  const kindText = fields.get('kind')?.toString();
  const kind = entryKinds.find((word) => word === kindText);
  const data = fields.get('data')?.toString();
  if (!isCheckId(check) || kind === undefined || data === undefined) {
    return { id, check: undefined, kind: 'partial', data: '', png: undefined, isOversized };
  }
  const traceparent = fields.get('traceparent')?.toString();
  return {
    id,
    check,
    kind,
    data,
    png: fields.get('png'),
    traceparent: isTraceparent(traceparent) ? traceparent : undefined,
    isOversized,
  };
}

/** Values leave Redis one byte longer than they may be if they are too long. */
function isTooLong([name, value]: readonly [string, Buffer]): boolean {
  return name.length > MAX_RESULT_BYTES || value.length > (name === 'png' ? MAX_SCREENSHOT_BYTES : MAX_RESULT_BYTES);
}
