import { noScreenshot, redisKeys, type Screenshot, type ScreenshotParams } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { runScript } from '../../redis/scripts.ts';
import { createScript, partialScript, readScript, settleScript } from './check-scripts.ts';
import { CheckEvicted } from '../../redis/store-errors.ts';
import type { Deadlines } from './deadlines.ts';
import type { StoredCheck } from './stored-bytes.ts';
import { IDEMPOTENCY_RECORD_BYTES, RECORD_BYTES, RESULT_BYTES } from './stored-bytes.ts';
import { fromStored, toStored } from './stored-json.ts';

/** A check as stored. Times are milliseconds since the epoch by the clock of Redis. */
export interface CheckRecord {
  readonly type: string;
  /** The target as the client wrote it; of a check between probes the names of both. */
  readonly host: string;
  /** The two probes of a check between probes, each of which measures the other. */
  readonly between?: readonly string[] | undefined;
  /** Locations of the request without a probe that could run the check; undefined if there are none. */
  readonly emptyLocations?: readonly string[] | undefined;
  /** Public part of the request as JSON; undefined in a check of an earlier release. */
  readonly request?: string | undefined;
  readonly createdAt: number;
  readonly deadlineAt: number;
  readonly completedAt: number | null;
  /** The selected probes, in the order of selection. */
  readonly probes: readonly string[];
  /** Final results as JSON, by probe. */
  readonly finals: ReadonlyMap<string, string>;
  /** The newest partial result of each pending probe that has one, as JSON. */
  readonly partials: ReadonlyMap<string, string>;
  /** State of the screenshot; the image has a separate key. */
  readonly screenshot: Screenshot;
  /** Approximate memory of the check in Redis without partial results and screenshot, and its client. */
  readonly stored: StoredCheck;
}

export interface NewCheck extends Pick<
  CheckRecord,
  'type' | 'host' | 'between' | 'emptyLocations' | 'request' | 'createdAt' | 'deadlineAt' | 'probes'
> {
  readonly id: string;
  /** Digest of the client to whose budget the results count; `monitors` for all monitors. */
  readonly client?: string | undefined;
  /** Digest of client and `Idempotency-Key`, which names the idempotency record. */
  readonly first?: string | undefined;
  /** Key that must be in Redis for the check to be created; undefined if the check is admitted already. */
  readonly grant?: string | undefined;
  /** True to create it only if there is no check with this id. */
  readonly once?: boolean | undefined;
  /** Probes whose agents may be connected to gateways, which are notified of the jobs. Default: all probes. */
  readonly atGateways?: readonly string[] | undefined;
  /** Undefined if no screenshot is requested; `given_up` if no probe can take one. */
  readonly screenshot?: NewScreenshot | undefined;
}

export type NewScreenshot =
  | { readonly state: 'pending'; readonly probe: string; readonly params: ScreenshotParams }
  | (Screenshot & { readonly state: 'given_up' });

/** Outcome of an update of a result or screenshot; only `applied` changes anything. */
export type Settlement = 'applied' | 'duplicate' | 'late' | 'foreign' | 'unknown';

/**
 * Writes the deadline, the record with all results pending, and the watch entry of a pending screenshot.
 *
 * @throws after all replies, if a write is refused; the other writes may have taken effect
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

/** The record of a new check as alternating fields and values, without its version. */
export function recordFields(check: NewCheck): readonly (string | number)[] {
  const { type, host, between, emptyLocations, request, createdAt, deadlineAt, probes, screenshot, client, first } =
    check;
  const pending = probes.length + (screenshot?.state === 'pending' ? 1 : 0);
  return [
    'type',
    type,
    'host',
    // `startScript` decodes it with the cjson of Redis, which rejects lone surrogates.
    host.toWellFormed(),
    'probes',
    probes.join(','),
    'createdAt',
    createdAt,
    'deadlineAt',
    deadlineAt,
    ...(between === undefined ? [] : ['between', between.join(',')]),
    ...(emptyLocations === undefined ? [] : ['emptyLocations', JSON.stringify(emptyLocations)]),
    ...(request === undefined ? [] : ['request', request]),
    ...(client === undefined ? [] : ['client', client]),
    ...(first === undefined ? [] : ['first', first]),
    'pending',
    pending,
    ...fieldsOf(screenshot),
  ];
}

/** Records that a probe is taking the screenshot of a check, so that its liveness is watched. */
export async function watchScreenshot(redis: Redis, id: string, probe: string, deadlineAt: number): Promise<void> {
  await redis.zadd(redisKeys.screenshots, deadlineAt, screenshotMember(id, probe));
}

/** The member that `watchScreenshot` would add for a new check; undefined if no screenshot is pending. */
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

/** Removes the record, results and deadline of a check; not its jobs and the watch entry of its screenshot. */
export async function removeCheck(redis: Redis, id: string): Promise<void> {
  await Promise.all([
    redis.del(redisKeys.check(id), redisKeys.checkResults(id), redisKeys.checkPartials(id)),
    redis.zrem(redisKeys.deadlines, id),
  ]);
}

/**
 * Reads a check consistently; undefined if there is none.
 *
 * @throws CheckEvicted
 */
export async function readCheck(redis: Redis, id: string): Promise<CheckRecord | undefined> {
  return toRecord((await runScript(redis, readScript, familyOf(id), [])) as string[][]);
}

/** @param hashes check, results and partials, as flat lists of fields and values */
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
    between: fields.get('between')?.split(','),
    emptyLocations: readEmptyLocations(fields),
    request: fields.get('request'),
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
        RECORD_BYTES + (fields.has('first') ? IDEMPOTENCY_RECORD_BYTES : 0),
      ),
      client: fields.get('client') ?? '',
    },
  };
}

export function readEmptyLocations(fields: ReadonlyMap<string, string>): string[] | undefined {
  const json = fields.get('emptyLocations');
  return json === undefined ? undefined : (JSON.parse(json) as string[]);
}

/** Parses the state of the screenshot; the record of a check without one has neither field. */
export function screenshotOf(shot: string | undefined, asked: string | undefined): Screenshot {
  if (shot === undefined) return noScreenshot;
  if (shot !== '') return JSON.parse(shot) as Screenshot;
  return { state: 'pending', probe: asked?.split(',').at(-1) ?? null, reason: null };
}

/** All probes of a pending check, with that of a pending screenshot; none if the check is unknown or completed. */
export async function readAwaited(redis: Redis, id: string): Promise<readonly string[]> {
  const fields = ['probes', 'completedAt', 'shot', 'shotAsked'] as const;
  const [probes, completedAt, shot, asked] = await redis.hmget(redisKeys.check(id), ...fields);
  if (typeof probes !== 'string' || typeof completedAt === 'string') return [];
  const { state, probe } = screenshotOf(shot ?? undefined, asked ?? undefined);
  const photographers = state === 'pending' && probe !== null ? [probe] : [];
  return [...new Set([...probes.split(','), ...photographers])];
}

/** The type of a check; undefined if there is no such check. */
export async function readCheckType(redis: Redis, id: string): Promise<string | undefined> {
  return (await redis.hget(redisKeys.check(id), 'type')) ?? undefined;
}

/** Readers in this process that wait for the end of a check. */
export interface WaitingReaders {
  /** True if a reader waits for this check. */
  readonly wait: (id: string) => boolean;
  readonly tell: (id: string, completed: CheckRecord) => void;
}

/** Reply of a settling script; the script's own values follow. */
export type SettleReply = readonly [
  completed: 0 | readonly [bytes: number, client: string],
  hashes: readonly string[][],
  ...words: string[],
];

export interface SettleOptions {
  readonly retentionMs: number;
  /** Notified if the update completes the check. */
  readonly deadlines: Pick<Deadlines, 'forget'>;
  /** Notified with the whole check if the update completes it and a reader waits for it. */
  readonly readers?: WaitingReaders | undefined;
  /** Time that `isLate` compares with the deadline, milliseconds since the epoch; 0 means in time. */
  readonly writtenAt?: number;
}

/**
 * Writes final results, each at most once.
 *
 * @param results JSON by probe
 * @returns the outcome of each, in order
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

/**
 * Reports a completed check to `deadlines` and `readers`.
 *
 * @returns the script's own values
 */
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

/** Stores a partial result of a pending probe if it is newer than the stored one. */
export async function keepPartial(
  redis: Redis,
  id: string,
  probe: string,
  entry: { readonly ms: number; readonly sequence: number },
  json: string,
): Promise<Settlement> {
  return (await runScript(redis, partialScript, familyOf(id), [probe, entry.ms, entry.sequence, json])) as Settlement;
}

/** The newest partial result of a pending probe as JSON; undefined if there is none. */
export async function readPartial(redis: Redis, id: string, probe: string): Promise<string | undefined> {
  const kept = await redis.hget(redisKeys.checkPartials(id), probe);
  return kept === null ? undefined : withoutVersion(kept);
}

/** Keys of the record, the results and the partial results of a check. */
export function familyOf(id: string): readonly string[] {
  return [redisKeys.check(id), redisKeys.checkResults(id), redisKeys.checkPartials(id)];
}

/** Removes version and stream id, which precede the JSON of a stored partial result. */
function withoutVersion(kept: string): string {
  return kept.slice(kept.indexOf(' ', kept.indexOf(' ') + 1) + 1);
}

function toMap(flat: readonly string[] = []): Map<string, string> {
  const map = new Map<string, string>();
  for (let index = 0; index + 1 < flat.length; index += 2) map.set(flat[index]!, flat[index + 1]!);
  return map;
}
