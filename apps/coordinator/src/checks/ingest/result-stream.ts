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
import { claimEntriesScript, MOST_FIELDS, takeEntriesScript } from './stream-scripts.ts';

/**
 * All coordinators read as one consumer: each new entry still goes to one of them only, entries of a dead one are found
 * by their idle time, and no consumer is left behind.
 */
const CONSUMER = 'coordinator';

/** Maximum entries per read. */
const FULL_BATCH = 64;
/** Maximum entries per claim: each may contain a screenshot. */
const CLAIMED_AT_ONCE = 8;

/** One entry of a probe's result stream. */
export interface StreamEntry {
  readonly id: string;
  /** Undefined if the entry is malformed. */
  readonly check: string | undefined;
  readonly kind: EntryKind;
  readonly data: string;
  /** The field `png`: the image, if the entry is a screenshot. */
  readonly png: Buffer | undefined;
  /** Span context of the agent's job, if it is traced. */
  readonly traceparent?: string | undefined;
  /** True if a field was longer than its limit, or if the entry had `MOST_FIELDS` or more names and values. */
  readonly isOversized: boolean;
}

/**
 * Reads entries that no coordinator has read yet.
 *
 * @param done ids of processed entries, acknowledged and deleted by the same command
 */
export async function readNew(redis: Redis, probe: string, done: readonly string[]): Promise<NewEntries> {
  const key = redisKeys.results(probe);
  const reply = await withGroup(redis, key, () =>
    runScriptForBytes(redis, takeEntriesScript, [key], [RESULT_GROUP, CONSUMER, FULL_BATCH, ...done]),
  );
  const [entries, more] = reply as readonly [readonly RawEntry[], number];
  return { entries: entries.map(readEntry), more: more === 1 };
}

export interface NewEntries {
  readonly entries: readonly StreamEntry[];
  /** True if there are or may be more entries. */
  readonly more: boolean;
}

/**
 * Claims entries that were read `idleMs` ago or earlier and not acknowledged.
 *
 * @param cursor `next` of the previous call
 * @returns the entries, with `next` if there may be more
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
  const [next, raw] = reply as readonly [Buffer | string, readonly (RawEntry | null)[]];
  const entries = raw.filter((entry) => entry !== null).map(readEntry);
  return { entries, next: String(next) === '0-0' ? undefined : String(next) };
}

export async function acknowledge(redis: Redis, probe: string, ids: readonly string[]): Promise<void> {
  await onStore(redis, () =>
    runScript(redis, takeEntriesScript, [redisKeys.results(probe)], [RESULT_GROUP, CONSUMER, 0, ...ids]),
  );
}

/**
 * Reads. If the stream has no consumer group, because it is new or Redis lost it, creates it from the start and reads
 * again.
 */
async function withGroup<T>(redis: Redis, key: string, read: () => Promise<T>): Promise<T> {
  try {
    return await onStore(redis, read);
  } catch (error) {
    if (replyCode(error) !== 'NOGROUP') throw error;
  }
  await onStore(redis, () => redis.xgroup('CREATE', key, RESULT_GROUP, '0', 'MKSTREAM')).catch((error: unknown) => {
    // Another coordinator created the group first.
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

/**
 * True for a name or value beyond its limit: the scripts cut it one byte past the limit. Names are measured in
 * characters.
 */
function isTooLong([name, value]: readonly [string, Buffer]): boolean {
  return name.length > MAX_RESULT_BYTES || value.length > (name === 'png' ? MAX_SCREENSHOT_BYTES : MAX_RESULT_BYTES);
}
