import { noScreenshot, redisKeys, type FailureCode, type Screenshot } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { runScript } from '../../../redis/scripts.ts';
import { CheckEvicted } from '../../../redis/store-errors.ts';
import { IDEMPOTENCY_RECORD_BYTES, RECORD_BYTES, RESULT_BYTES, type StoredCheck } from '../stored-bytes.ts';
import { fromStored } from '../stored-json.ts';
import { readScript } from './check-scripts.ts';

/** Why probes of a check got no job: failure code and sentence, by probe. */
export type Absent = Readonly<Record<string, readonly [code: FailureCode, why: string]>>;

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
  /**
   * Probes that were offline or busy and got no job, with the reason. Kept until completion, so that expiry can write
   * their results if the coordinator dies before it does.
   */
  readonly absent: Absent;
  /** Final results as JSON, by probe. */
  readonly finals: ReadonlyMap<string, string>;
  /** The newest partial result of each pending probe that has one, as JSON. */
  readonly partials: ReadonlyMap<string, string>;
  /** State of the screenshot; the image has a separate key. */
  readonly screenshot: Screenshot;
  /** Client of the check, and its approximate memory in Redis without partial results and screenshot. */
  readonly stored: StoredCheck;
}

/** Keys of the record, the results and the partial results of a check. */
export function checkKeys(id: string): readonly string[] {
  return [redisKeys.check(id), redisKeys.checkResults(id), redisKeys.checkPartials(id)];
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
  return toRecord((await runScript(redis, readScript, checkKeys(id), [])) as string[][]);
}

/**
 * Parses the hashes of a check (record, results, partials), each a flat list of fields and values.
 *
 * @throws CheckEvicted
 */
export function toRecord([check, results, partials]: readonly (readonly string[])[]): CheckRecord | undefined {
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
    absent: JSON.parse(fields.get('absent') ?? '{}') as Absent,
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
  const screenshotProbes = state === 'pending' && probe !== null ? [probe] : [];
  return [...new Set([...probes.split(','), ...screenshotProbes])];
}

/** The type of a check; undefined if there is no such check. */
export async function readCheckType(redis: Redis, id: string): Promise<string | undefined> {
  return (await redis.hget(redisKeys.check(id), 'type')) ?? undefined;
}

/** The newest partial result of a pending probe as JSON; undefined if there is none. */
export async function readPartial(redis: Redis, id: string, probe: string): Promise<string | undefined> {
  const kept = await redis.hget(redisKeys.checkPartials(id), probe);
  return kept === null ? undefined : withoutVersion(kept);
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
