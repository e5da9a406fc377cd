import type { AnyCheckType, ResultKind } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { Log } from '../redis/log.ts';
import { isStoreFault, onStore } from '../redis/store.ts';
import { acceptResult, type AcceptDependencies } from './accept-result.ts';
import { keepPartial, settle, type Settlement } from './check-records.ts';
import type { CheckTypes } from './check-types.ts';
import type { Counters } from './counters.ts';
import { acknowledge, claimIdle, FULL_BATCH, readNew, type StreamEntry } from './result-stream.ts';

export interface IngestDependencies extends AcceptDependencies {
  readonly redis: Redis;
  readonly types: CheckTypes;
  readonly retentionMs: number;
  readonly counters: Counters;
  /** True for a moment after an outage of Redis, in which no result is late. */
  readonly isGrace: () => boolean;
  readonly log: Log;
}

export interface Ingest {
  /**
   * Takes in everything that a probe has written before the call. Never rejects: what the store does not take stays in
   * the stream.
   *
   * @param claimIdleMs takes over also what a coordinator has held for longer than this without an end
   */
  readonly drain: (probe: string, claimIdleMs?: number) => Promise<void>;
}

interface Drain {
  running: Promise<void> | undefined;
  again: boolean;
  claimIdleMs: number | undefined;
}

/** Reads the probes' result streams into the checks. Whose result it is follows from the stream it is in, from nothing else. */
export function createIngest(dependencies: IngestDependencies): Ingest {
  const drains = new Map<string, Drain>();

  const run = async (probe: string, drain: Drain): Promise<void> => {
    try {
      while (drain.again) {
        drain.again = false;
        const claimIdleMs = drain.claimIdleMs;
        drain.claimIdleMs = undefined;
        if (claimIdleMs !== undefined) await takeOver(dependencies, probe, claimIdleMs);
        while ((await takeNew(dependencies, probe)) === FULL_BATCH);
      }
    } catch (error) {
      noteFault(dependencies, probe, error);
    } finally {
      drains.delete(probe);
    }
  };

  return {
    drain: (probe, claimIdleMs) => {
      const drain = drains.get(probe) ?? { running: undefined, again: false, claimIdleMs: undefined };
      drain.again = true;
      drain.claimIdleMs = claimIdleMs ?? drain.claimIdleMs;
      if (drain.running !== undefined) return drain.running;
      drains.set(probe, drain);
      drain.running = run(probe, drain);
      return drain.running;
    },
  };
}

async function takeNew(dependencies: IngestDependencies, probe: string): Promise<number> {
  const entries = await readNew(dependencies.redis, probe);
  await takeIn(dependencies, probe, entries);
  return entries.length;
}

async function takeOver(dependencies: IngestDependencies, probe: string, idleMs: number): Promise<void> {
  let cursor: string | undefined;
  do {
    const claimed = await claimIdle(dependencies.redis, probe, idleMs, cursor);
    await takeIn(dependencies, probe, claimed.entries);
    cursor = claimed.next;
  } while (cursor !== undefined);
}

async function takeIn(dependencies: IngestDependencies, probe: string, entries: readonly StreamEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const { redis, types } = dependencies;
  const checkTypes = await Promise.all(
    entries.map(async ({ check }) => (check === undefined ? undefined : types.ofCheck(redis, check))),
  );
  // The scripts of a batch leave in the order of the stream, in one go.
  const outcomes = await Promise.allSettled(
    entries.map((entry, index) => takeInOne(dependencies, probe, entry, checkTypes[index])),
  );
  const done = entries.flatMap((entry, index) => (outcomes[index]?.status === 'fulfilled' ? [entry.id] : []));
  if (done.length > 0) await acknowledge(redis, probe, done);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

/** Rejects only where the store did not take it: then the entry stays. */
async function takeInOne(
  dependencies: IngestDependencies,
  probe: string,
  { id, check, kind, data }: StreamEntry,
  checkType: AnyCheckType | undefined,
): Promise<void> {
  const { redis, retentionMs, counters, isGrace } = dependencies;
  if (check === undefined) {
    counters.entriesMalformed += 1;
    return;
  }
  if (checkType === undefined) {
    count(counters, kind, 'unknown');
    return;
  }
  const [ms = 0, sequence = 0] = id.split('-').map(Number);
  const accepted = acceptResult(dependencies, checkType, { kind, data, writtenAtMs: ms });
  if (accepted.kind === 'partial') {
    const said = accepted.valid
      ? await onStore(redis, () => keepPartial(redis, check, probe, { ms, sequence }, accepted.json))
      : 'foreign';
    count(counters, kind, said);
    return;
  }
  const writtenAt = isGrace() ? 0 : ms;
  const [said = 'unknown'] = await onStore(redis, () =>
    settle(redis, check, [[probe, accepted.json]], { retentionMs, writtenAt }),
  );
  count(counters, kind, said);
  if (said === 'applied' && !accepted.valid) counters.resultsInvalid += 1;
}

const finalCounters = {
  applied: 'resultsApplied',
  duplicate: 'resultsDuplicate',
  late: 'resultsLate',
  foreign: 'resultsForeign',
  unknown: 'resultsUnknown',
} as const satisfies Record<Settlement, keyof Counters>;

function count(counters: Counters, kind: ResultKind, said: Settlement): void {
  if (kind === 'final') counters[finalCounters[said]] += 1;
  else counters[said === 'applied' ? 'partialsApplied' : 'partialsDropped'] += 1;
}

function noteFault({ counters, log }: IngestDependencies, probe: string, error: unknown): void {
  // The connection says by itself that it is lost.
  if (isStoreFault(error)) return;
  counters.streamFaults += 1;
  log.warn({ probe, error }, 'result stream could not be read');
}
