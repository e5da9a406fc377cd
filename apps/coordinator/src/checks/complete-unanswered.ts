import type { CommonResult } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { Log } from '../redis/log.ts';
import { isStoreFault } from '../redis/store.ts';
import { CheckEvicted } from '../redis/store-errors.ts';
import { readCheck, type CheckRecord } from './store/records/check-records.ts';
import { writeFinals } from './store/records/write-results.ts';
import type { Counters } from './store/counters.ts';
import type { Deadlines } from './store/deadlines.ts';
import type { JobQueues } from './store/job-queues.ts';

export interface CompletionDependencies {
  readonly redis: Redis;
  readonly deadlines: Deadlines;
  readonly queues: JobQueues;
  readonly retentionMs: number;
  readonly counters: Counters;
  readonly log: Log;
}

/** Makes the final result of a probe that will not answer, from its newest partial result. */
export type MakeResult = (
  probe: string,
  partial: Readonly<Record<string, unknown>>,
  finishedAtMs: number,
) => CommonResult;

/**
 * Writes the final results of probes that will not answer, and removes their waiting jobs.
 *
 * @returns the number of results that were still missing
 */
export async function completeUnanswered(
  { redis, queues, deadlines, retentionMs, counters, log }: CompletionDependencies,
  id: string,
  record: CheckRecord,
  {
    probes,
    nowMs,
    makeResult,
  }: {
    readonly probes: readonly string[];
    readonly nowMs: number;
    readonly makeResult: MakeResult;
  },
): Promise<number> {
  if (probes.length === 0) return 0;
  // Removes the jobs first: if Redis fails in between, the next poll finds the results still missing and repeats both
  // steps.
  const removed = await queues.removeWaiting(redis, probes, id);
  for (const [index, outcome] of removed.entries()) {
    if (outcome.status === 'fulfilled') counters.jobsRemoved += outcome.value ? 1 : 0;
    else if (isStoreFault(outcome.reason)) throw outcome.reason;
    else log.warn({ probe: probes[index], error: outcome.reason as unknown }, 'waiting job could not be removed');
  }

  const finishedAt = Math.max(Math.round(nowMs), record.createdAt);
  const results = probes.map(
    (probe) => [probe, JSON.stringify(makeResult(probe, partialOf(record, probe), finishedAt))] as const,
  );
  const said = await writeFinals(redis, id, results, { retentionMs, deadlines });
  return said.filter((word) => word === 'applied').length;
}

/** Reads a record; undefined if the check is unknown or evicted. */
export async function readKept(redis: Redis, id: string): Promise<CheckRecord | undefined> {
  try {
    return await readCheck(redis, id);
  } catch (error) {
    if (error instanceof CheckEvicted) return undefined;
    throw error;
  }
}

/** The probes whose final result is missing. */
export function pendingProbes(record: CheckRecord): readonly string[] {
  return record.probes.filter((probe) => !record.finals.has(probe));
}

function partialOf(record: CheckRecord, probe: string): Readonly<Record<string, unknown>> {
  const partial = record.partials.get(probe);
  return partial === undefined ? {} : (JSON.parse(partial) as Record<string, unknown>);
}
