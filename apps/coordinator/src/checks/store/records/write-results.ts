import type { Redis } from 'ioredis';

import { runScript } from '../../../redis/scripts.ts';
import type { Deadlines } from '../deadlines.ts';
import { toStored } from '../stored-json.ts';
import { checkKeys, toRecord, type CheckRecord } from './check-records.ts';
import { partialScript, writeFinalsScript } from './check-scripts.ts';

/** Outcome of an update of a result or screenshot; only `applied` changes anything. */
export type CommitOutcome = 'applied' | 'duplicate' | 'late' | 'foreign' | 'unknown';

/** Readers in this process that wait for the end of a check. */
export interface WaitingReaders {
  /** True if a reader waits for this check. */
  readonly wait: (id: string) => boolean;
  readonly tell: (id: string, completed: CheckRecord) => void;
}

/** Reply of a script that ends with `completion`; the script's own values follow. */
export type CommitReply = readonly [
  completed: 0 | readonly [bytes: number, client: string],
  hashes: readonly string[][],
  ...words: string[],
];

export interface CommitOptions {
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
export async function writeFinals(
  redis: Redis,
  id: string,
  results: readonly (readonly [probe: string, json: string])[],
  { retentionMs, deadlines, readers, writtenAt = 0 }: CommitOptions,
): Promise<readonly CommitOutcome[]> {
  const stored = results.flatMap(([probe, json]) => [probe, toStored(json)]);
  const values = [retentionMs, writtenAt, readers?.wait(id) === true ? 1 : 0, ...stored];
  const reply = (await runScript(redis, writeFinalsScript, checkKeys(id), values)) as CommitReply;
  return tellCompletion(id, reply, { deadlines, readers }) as readonly CommitOutcome[];
}

/**
 * Reports a completed check to `deadlines` and `readers`.
 *
 * @returns the script's own values
 */
export function tellCompletion(
  id: string,
  [completed, hashes, ...words]: CommitReply,
  { deadlines, readers }: Pick<CommitOptions, 'deadlines' | 'readers'>,
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
): Promise<CommitOutcome> {
  return (await runScript(redis, partialScript, checkKeys(id), [
    probe,
    entry.ms,
    entry.sequence,
    json,
  ])) as CommitOutcome;
}
