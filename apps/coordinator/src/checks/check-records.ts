import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { within } from '../redis/connections.ts';
import { runScript } from '../redis/scripts.ts';
import { createScript, dueScript, partialScript, readScript, settleScript } from './check-scripts.ts';

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
}

export interface NewCheck extends Pick<CheckRecord, 'type' | 'host' | 'createdAt' | 'deadlineAt' | 'probes'> {
  readonly id: string;
}

/** What became of a result: only `applied` changed anything. */
export type Settlement = 'applied' | 'duplicate' | 'late' | 'foreign' | 'unknown';

/** A caller waits this long at most for what is removed again; without Redis the sweep does it at the deadline. */
export const TAKE_BACK_MS = 200;

/** Writes the deadline and the record, each with all results pending. Both are removed again where one is refused. */
export async function writeCheck(redis: Redis, check: NewCheck, retentionMs: number): Promise<void> {
  const { id, type, host, createdAt, deadlineAt, probes } = check;
  const written = await Promise.allSettled([
    redis.zadd(redisKeys.deadlines, deadlineAt, id),
    runScript(
      redis,
      createScript,
      [redisKeys.check(id), redisKeys.checkResults(id)],
      [
        ...[deadlineAt - createdAt + retentionMs, probes.length, ...probes],
        ...['type', type, 'host', host, 'createdAt', createdAt, 'deadlineAt', deadlineAt, 'probes', probes.join(',')],
      ],
    ),
  ]);
  const refused = written.find((outcome) => outcome.status === 'rejected');
  if (refused === undefined) return;
  await within(removeCheck(redis, id), TAKE_BACK_MS);
  throw refused.reason;
}

/** Removes every trace of a check but its jobs. */
export async function removeCheck(redis: Redis, id: string): Promise<void> {
  await Promise.all([
    redis.del(redisKeys.check(id), redisKeys.checkResults(id), redisKeys.checkPartials(id)),
    redis.zrem(redisKeys.deadlines, id),
  ]);
}

/** The check at one moment, or undefined where there is none. */
export async function readCheck(redis: Redis, id: string): Promise<CheckRecord | undefined> {
  const [check, results, partials] = (await runScript(redis, readScript, familyOf(id), [])) as string[][];
  const fields = toMap(check);
  const type = fields.get('type');
  if (type === undefined) return undefined;
  const completedAt = fields.get('completedAt');
  return {
    type,
    host: fields.get('host') ?? '',
    createdAt: Number(fields.get('createdAt')),
    deadlineAt: Number(fields.get('deadlineAt')),
    completedAt: completedAt === undefined ? null : Number(completedAt),
    probes: (fields.get('probes') ?? '').split(','),
    finals: new Map([...toMap(results)].filter(([, json]) => json !== '')),
    partials: new Map([...toMap(partials)].map(([probe, kept]) => [probe, withoutVersion(kept)])),
  };
}

/** The type of a check, or undefined where there is no such check. */
export async function readCheckType(redis: Redis, id: string): Promise<string | undefined> {
  return (await redis.hget(redisKeys.check(id), 'type')) ?? undefined;
}

/**
 * Writes final results, each at most once, and takes a check that this completes off the deadlines.
 *
 * @param results JSON by probe
 * @param writtenAt when the probe wrote them, milliseconds since the epoch; after the deadline they are `late`. 0: in time
 * @returns what became of each, in order
 */
export async function settle(
  redis: Redis,
  id: string,
  results: readonly (readonly [probe: string, json: string])[],
  { retentionMs, writtenAt = 0 }: { readonly retentionMs: number; readonly writtenAt?: number },
): Promise<readonly Settlement[]> {
  const values = [retentionMs, writtenAt, ...results.flat()];
  const [completed, ...said] = (await runScript(redis, settleScript, familyOf(id), values)) as [
    number,
    ...Settlement[],
  ];
  // Should this get lost, the sweep finds the check completed and does the same.
  if (completed === 1) redis.zrem(redisKeys.deadlines, id).catch(() => undefined);
  return said;
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

/** Checks whose deadline has passed and what the time is, in milliseconds since the epoch by Redis' clock. */
export async function readDue(
  redis: Redis,
  limit: number,
): Promise<{ readonly nowMs: number; readonly due: readonly string[] }> {
  const [seconds, microseconds, due] = (await runScript(redis, dueScript, [redisKeys.deadlines], [limit])) as [
    string,
    string,
    string[],
  ];
  return { nowMs: Number(seconds) * 1_000 + Number(microseconds) / 1_000, due };
}

function familyOf(id: string): readonly string[] {
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
