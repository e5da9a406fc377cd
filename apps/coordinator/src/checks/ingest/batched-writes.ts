import type { Redis } from 'ioredis';

import { onStore } from '../../redis/store.ts';
import { writeFinals, type CommitOptions, type CommitOutcome } from '../store/records/write-results.ts';

export interface FinalToWrite {
  readonly check: string;
  readonly probe: string;
  readonly json: string;
  /** Time that is compared with the deadline, milliseconds since the epoch; 0 means in time. */
  readonly writtenAt: number;
}

/** Writes a result. One script writes up to `MOST_AT_ONCE` results of a check that arrive together. */
export type WriteBatched = (result: FinalToWrite) => Promise<CommitOutcome>;

export interface WriteBatchedDependencies extends Omit<CommitOptions, 'writtenAt'> {
  readonly redis: Redis;
}

/** Maximum results per script: a script blocks Redis, and the first results must not wait for many later ones. */
const MOST_AT_ONCE = 25;

interface Batch {
  readonly results: FinalToWrite[];
  readonly outcome: PromiseWithResolvers<readonly CommitOutcome[]>;
}

export function createBatchedWrites({ redis, ...options }: WriteBatchedDependencies): WriteBatched {
  const batches = new Map<string, Batch>();

  const send = (check: string, batch: Batch): void => {
    if (batches.get(check) !== batch) return;
    batches.delete(check);
    const { results, outcome } = batch;
    const pairs = results.map(({ probe, json }) => [probe, json] as const);
    // The latest time of the batch: a timely result may be refused as late here, but then its stream entry is committed
    // by its own time.
    const writtenAt = Math.max(...results.map((result) => result.writtenAt));
    onStore(redis, () => writeFinals(redis, check, pairs, { ...options, writtenAt })).then(
      outcome.resolve,
      outcome.reject,
    );
  };

  return async (result) => {
    const { check } = result;
    let batch = batches.get(check);
    if (batch === undefined) {
      const begun: Batch = { results: [], outcome: Promise.withResolvers() };
      batches.set(check, begun);
      // Runs after the microtasks of all notifications that were read at once, so that their results are in this batch.
      process.nextTick(() => send(check, begun));
      batch = begun;
    }
    const index = batch.results.push(result) - 1;
    if (batch.results.length >= MOST_AT_ONCE) send(check, batch);
    return (await batch.outcome.promise)[index] ?? 'unknown';
  };
}
