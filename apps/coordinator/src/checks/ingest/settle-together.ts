import type { Redis } from 'ioredis';

import { onStore } from '../../redis/store.ts';
import { settle, type SettleOptions, type Settlement } from '../store/check-records.ts';

export interface Settled {
  readonly check: string;
  readonly probe: string;
  readonly json: string;
  /** As of `SettleOptions`. */
  readonly writtenAt: number;
}

/** Writes results: those of one check that are there at the same time in one script, which costs Redis half as much. */
export type SettleTogether = (result: Settled) => Promise<Settlement>;

export interface SettleTogetherDependencies extends Omit<SettleOptions, 'writtenAt'> {
  readonly redis: Redis;
}

/** Results of one script, which blocks Redis; the first ones do not wait until many more are validated. */
const MOST_AT_ONCE = 25;

interface Batch {
  readonly results: Settled[];
  readonly outcome: PromiseWithResolvers<readonly Settlement[]>;
}

export function createSettleTogether({ redis, ...options }: SettleTogetherDependencies): SettleTogether {
  const batches = new Map<string, Batch>();

  const send = (check: string, batch: Batch): void => {
    if (batches.get(check) !== batch) return;
    batches.delete(check);
    const { results, outcome } = batch;
    const pairs = results.map(({ probe, json }) => [probe, json] as const);
    // The latest time of all: a timely result may be refused as late here, but its stream entry, with its own time, is then
    // committed.
    const writtenAt = Math.max(...results.map((result) => result.writtenAt));
    onStore(redis, () => settle(redis, check, pairs, { ...options, writtenAt })).then(outcome.resolve, outcome.reject);
  };

  return async (result) => {
    const { check } = result;
    let batch = batches.get(check);
    if (batch === undefined) {
      const begun: Batch = { results: [], outcome: Promise.withResolvers() };
      batches.set(check, begun);
      // After the microtasks of all notifications that were read at once.
      process.nextTick(() => send(check, begun));
      batch = begun;
    }
    const index = batch.results.push(result) - 1;
    if (batch.results.length >= MOST_AT_ONCE) send(check, batch);
    return (await batch.outcome.promise)[index] ?? 'unknown';
  };
}
