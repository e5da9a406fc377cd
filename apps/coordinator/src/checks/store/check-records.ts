import { noScreenshot, redisKeys, type Screenshot, type ScreenshotParams } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { runScript } from '../../redis/scripts.ts';
import { createScript, partialScript, readScript, settleScript } from './check-scripts.ts';
import { CheckEvicted } from '../../redis/store-errors.ts';
import type { Deadlines } from './deadlines.ts';
import type { StoredCheck } from './stored-bytes.ts';
import { FIRST_ANSWER_BYTES, RECORD_BYTES, RESULT_BYTES } from './stored-bytes.ts';
import { fromStored, toStored } from './stored-json.ts';

/** A check as it is stored. Times are milliseconds since the epoch by Redis' clock. */
export interface CheckRecord {
  readonly type: string;
  /** The target as the caller wrote it. */
  readonly host: string;
  readonly createdAt: number;
  readonly deadlineAt: number;
  readonly completedAt: number | null;
  /** The probes that were selected, in the order of selection. */
  readonly probes: readonly string[];
  /** JSON of the final results there are. */
  readonly finals: ReadonlyMap<string, string>;
  /** JSON of the newest partial result of probes that are pending. */
  readonly partials: ReadonlyMap<string, string>;
  /** What became of the picture of the check; the picture itself has a key of its own. */
  readonly screenshot: Screenshot;
  /** What its results take, as they are now. */
  readonly stored: StoredCheck;
}

export interface NewCheck extends Pick<CheckRecord, 'type' | 'host' | 'createdAt' | 'deadlineAt' | 'probes'> {
  readonly id: string;
  /** Digest of the client whose results count together. */
  readonly client?: string | undefined;
  /** Digest of the `Idempotency-Key` that it was started with. */
  readonly first?: string | undefined;
  /** True to start it only if there is no check with this id. */
  readonly once?: boolean | undefined;
  /** Absent where none is wanted; `given_up` where no probe can take one. */
  readonly screenshot?: NewScreenshot | undefined;
}

export type NewScreenshot =
  | { readonly state: 'pending'; readonly probe: string; readonly params: ScreenshotParams }
  | (Screenshot & { readonly state: 'given_up' });

/** What became of a result: only `applied` changed anything. */
export type Settlement = 'applied' | 'duplicate' | 'late' | 'foreign' | 'unknown';

/**
 * Writes the deadline and the record with all results pending.
 *
 * @throws once all is answered, where a part is refused; then another may be there
 */
export async function writeCheck(redis: Redis, check: NewCheck, retentionMs: number): Promise<void> {
  const { id, createdAt, deadlineAt, probes, screenshot } = check;
  const written = await Promise.allSettled([
    redis.zadd(redisKeys.deadlines, deadlineAt, id),
    runScript(
      redis,
      createScript,
      [redisKeys.check(id), redisKeys.checkResults(id)],
      [deadlineAt - createdAt + retentionMs, probes.length, ...probes, ...recordFields(check)],
    ),
    ...(screenshot?.state === 'pending' ? [watchScreenshot(redis, id, screenshot.probe, deadlineAt)] : []),
  ]);
  const refused = written.find((outcome) => outcome.status === 'rejected');
  if (refused !== undefined) throw refused.reason;
}

/** The record of a new check as it is stored but for its version: field, value, and so on. */
export function recordFields(check: NewCheck): readonly (string | number)[] {
  const { type, host, createdAt, deadlineAt, probes, screenshot, client, first } = check;
  const pending = probes.length + (screenshot?.state === 'pending' ? 1 : 0);
  return [
    // Redis keeps UTF-8, and its JSON reads nothing else.
    ...['type', type, 'host', host.toWellFormed(), 'probes', probes.join(',')],
    ...['createdAt', createdAt, 'deadlineAt', deadlineAt],
    ...(client === undefined ? [] : ['client', client]),
    ...(first === undefined ? [] : ['first', first]),
    ...['pending', pending, ...fieldsOf(screenshot)],
  ];
}

/** Notes that a probe is at the screenshot of a check, for those who watch whether it still is there. */
export async function watchScreenshot(redis: Redis, id: string, probe: string, deadlineAt: number): Promise<void> {
  await redis.zadd(redisKeys.screenshots, deadlineAt, screenshotMember(id, probe));
}

/** The same note of a new check, as a member of the sorted set. */
export function watchedScreenshot({ id, screenshot }: NewCheck): string | undefined {
  return screenshot?.state === 'pending' ? screenshotMember(id, screenshot.probe) : undefined;
}

export function screenshotMember(id: string, probe: string): string {
  return `${id} ${probe}`;
}

function fieldsOf(screenshot: NewScreenshot | undefined): readonly string[] {
  if (screenshot === undefined) return [];
  if (screenshot.state === 'given_up') return ['shot', JSON.stringify(screenshot)];
  return ['shot', '', 'shotAsked', screenshot.probe, 'shotParams', JSON.stringify(screenshot.params)];
}

/** Removes every trace of a check but its jobs and the note of who is at its screenshot, which ends by itself. */
export async function removeCheck(redis: Redis, id: string): Promise<void> {
  await Promise.all([
    redis.del(redisKeys.check(id), redisKeys.checkResults(id), redisKeys.checkPartials(id)),
    redis.zrem(redisKeys.deadlines, id),
  ]);
}

/** The check at one moment, or undefined where there is none. */
export async function readCheck(redis: Redis, id: string): Promise<CheckRecord | undefined> {
  return toRecord((await runScript(redis, readScript, familyOf(id), [])) as string[][]);
}

/** @param hashes check, results and partials, as flat lists */
function toRecord([check, results, partials]: readonly (readonly string[])[]): CheckRecord | undefined {
  const fields = toMap(check);
  const type = fields.get('type');
  if (type === undefined) return undefined;
  const evicted = fields.get('evicted');
  if (evicted !== undefined) throw new CheckEvicted(evicted);
  const finals = [...toMap(results)].filter(([, stored]) => stored !== '');
  const completedAt = fields.get('completedAt');
  return {
    type,
    host: fields.get('host') ?? '',
    createdAt: Number(fields.get('createdAt')),
    deadlineAt: Number(fields.get('deadlineAt')),
    completedAt: completedAt === undefined ? null : Number(completedAt),
    probes: (fields.get('probes') ?? '').split(','),
    finals: new Map(finals.map(([probe, stored]) => [probe, fromStored(stored)])),
    partials: new Map([...toMap(partials)].map(([probe, kept]) => [probe, withoutVersion(kept)])),
    screenshot: screenshotOf(fields.get('shot'), fields.get('shotAsked')),
    stored: {
      bytes: finals.reduce(
        (sum, [, stored]) => sum + stored.length + RESULT_BYTES,
        RECORD_BYTES + (fields.has('first') ? FIRST_ANSWER_BYTES : 0),
      ),
      client: fields.get('client') ?? '',
    },
  };
}

/** A check of an older release has neither field. */
export function screenshotOf(shot: string | undefined, asked: string | undefined): Screenshot {
  if (shot === undefined) return noScreenshot;
  if (shot !== '') return JSON.parse(shot) as Screenshot;
  return { state: 'pending', probe: asked?.split(',').at(-1) ?? null, reason: null };
}

/** The type of a check, or undefined where there is no such check. */
export async function readCheckType(redis: Redis, id: string): Promise<string | undefined> {
  return (await redis.hget(redisKeys.check(id), 'type')) ?? undefined;
}

/** Those of this process who wait for the end of a check. */
export interface WaitingReaders {
  /** True while somebody waits for this check. */
  readonly wait: (id: string) => boolean;
  readonly tell: (id: string, completed: CheckRecord) => void;
}

/** What a script that settles something answers, before the words of its own. */
export type SettleReply = readonly [
  completed: 0 | readonly [bytes: number, client: string],
  hashes: readonly string[][],
  ...words: string[],
];

export interface SettleOptions {
  readonly retentionMs: number;
  /** Is told of a check that this completes. */
  readonly deadlines: Pick<Deadlines, 'forget'>;
  /** Are told the whole check where this completes it. */
  readonly readers?: WaitingReaders | undefined;
  /** When the probe wrote the results, milliseconds since the epoch; after the deadline they are `late`. 0: in time. */
  readonly writtenAt?: number;
}

/**
 * Writes final results, each at most once.
 *
 * @param results JSON by probe
 * @returns what became of each, in order
 */
export async function settle(
  redis: Redis,
  id: string,
  results: readonly (readonly [probe: string, json: string])[],
  { retentionMs, deadlines, readers, writtenAt = 0 }: SettleOptions,
): Promise<readonly Settlement[]> {
  const stored = results.flatMap(([probe, json]) => [probe, toStored(json)]);
  const values = [retentionMs, writtenAt, readers?.wait(id) === true ? 1 : 0, ...stored];
  const reply = (await runScript(redis, settleScript, familyOf(id), values)) as SettleReply;
  return tellCompletion(id, reply, { deadlines, readers }) as readonly Settlement[];
}

/** @returns the words of the script's own */
export function tellCompletion(
  id: string,
  [completed, hashes, ...words]: SettleReply,
  { deadlines, readers }: Pick<SettleOptions, 'deadlines' | 'readers'>,
): readonly string[] {
  if (completed !== 0) deadlines.forget(id, { bytes: completed[0], client: completed[1] });
  const record = toRecord(hashes);
  if (record !== undefined) readers?.tell(id, record);
  return words;
}

/** Keeps a partial result, unless the probe's final result or a newer partial one is there already. */
export async function keepPartial(
  redis: Redis,
  id: string,
  probe: string,
  entry: { readonly ms: number; readonly sequence: number },
  json: string,
): Promise<Settlement> {
  return (await runScript(redis, partialScript, familyOf(id), [probe, entry.ms, entry.sequence, json])) as Settlement;
}

/** JSON of the newest partial result of a probe that is pending. */
export async function readPartial(redis: Redis, id: string, probe: string): Promise<string | undefined> {
  const kept = await redis.hget(redisKeys.checkPartials(id), probe);
  return kept === null ? undefined : withoutVersion(kept);
}

/** The keys of a check that its scripts touch. */
export function familyOf(id: string): readonly string[] {
  return [redisKeys.check(id), redisKeys.checkResults(id), redisKeys.checkPartials(id)];
}

/** The JSON of a kept partial result, which its version and its place in the stream come before. */
function withoutVersion(kept: string): string {
  return kept.slice(kept.indexOf(' ', kept.indexOf(' ') + 1) + 1);
}

function toMap(flat: readonly string[] = []): Map<string, string> {
  const map = new Map<string, string>();
  for (let index = 0; index + 1 < flat.length; index += 2) map.set(flat[index]!, flat[index + 1]!);
  return map;
}
