import type { AnyCheckType, ResultKind } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { within } from '../redis/connections.ts';
import type { Log } from '../redis/log.ts';
import { isStoreFault, onStore } from '../redis/store.ts';
import { acceptResult, registeredAddress, type AcceptDependencies } from './accept-result.ts';
import { keepPartial, settle, type Settlement, type WaitingReaders } from './check-records.ts';
import type { CheckTypes } from './check-types.ts';
import type { Counters } from './counters.ts';
import type { Deadlines } from './deadlines.ts';
import type { FinalResult } from './final-result.ts';
import { createAcknowledgements, type Acknowledgements } from './acknowledgements.ts';
import { claimIdle, readNew, type StreamEntry } from './result-stream.ts';
import type { Screenshots } from './screenshots.ts';

export interface IngestDependencies extends AcceptDependencies {
  readonly redis: Redis;
  readonly types: CheckTypes;
  readonly deadlines: Deadlines;
  readonly readers: WaitingReaders;
  readonly screenshots: Pick<Screenshots, 'takeIn'>;
  readonly retentionMs: number;
  readonly counters: Counters;
  /** Asks a registry about an address ahead of `lookUpPlace`; absent where the operator wants none asked. Never rejects. */
  readonly preparePlace?: ((address: string) => Promise<void>) | undefined;
  /** True for a moment after an outage of Redis, in which no result is late. */
  readonly isGrace: () => boolean;
  /** Told of each final result that has been shown. */
  readonly onFinal?: ((final: FinalResult) => void) | undefined;
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
  /** Leaves nothing for another coordinator to find. Never rejects. */
  readonly close: () => Promise<void>;
}

/** A result that is in time must be written well before the check is ended: its place can wait no longer than this. */
const PREPARE_MS = 1_000;

interface Drain {
  running: Promise<void> | undefined;
  again: boolean;
  claimIdleMs: number | undefined;
}

/** Reads the probes' result streams into the checks. Whose result it is follows from the stream it is in, from nothing else. */
export function createIngest(dependencies: IngestDependencies): Ingest {
  const drains = new Map<string, Drain>();
  const done = createAcknowledgements(dependencies.redis);

  const run = async (probe: string, drain: Drain): Promise<void> => {
    try {
      while (drain.again) {
        drain.again = false;
        const claimIdleMs = drain.claimIdleMs;
        drain.claimIdleMs = undefined;
        if (claimIdleMs !== undefined) await takeOver(dependencies, done, probe, claimIdleMs);
        while (await takeNew(dependencies, done, probe));
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
    close: done.close,
  };
}

/** @returns true where there may be more */
async function takeNew(dependencies: IngestDependencies, done: Acknowledgements, probe: string): Promise<boolean> {
  const { entries, more } = await done.alongWith(probe, (ids) => readNew(dependencies.redis, probe, ids));
  await takeIn(dependencies, done, probe, entries);
  return more;
}

async function takeOver(
  dependencies: IngestDependencies,
  done: Acknowledgements,
  probe: string,
  idleMs: number,
): Promise<void> {
  // What is worked off is nothing to take over.
  await done.flush(probe);
  let cursor: string | undefined;
  do {
    const claimed = await claimIdle(dependencies.redis, probe, idleMs, cursor);
    await takeIn(dependencies, done, probe, claimed.entries);
    cursor = claimed.next;
  } while (cursor !== undefined);
}

async function takeIn(
  dependencies: IngestDependencies,
  acknowledgements: Acknowledgements,
  probe: string,
  entries: readonly StreamEntry[],
): Promise<void> {
  if (entries.length === 0) return;
  const { redis, types } = dependencies;
  const checkTypes = await Promise.all(
    entries.map(async ({ check }) => (check === undefined ? undefined : types.ofCheck(redis, check))),
  );
  await prepareAll(dependencies, entries, checkTypes);
  // The scripts of a batch leave in the order of the stream, in one go.
  const outcomes = await Promise.allSettled(
    entries.map((entry, index) => takeInOne(dependencies, probe, entry, checkTypes[index])),
  );
  const done = entries.flatMap((entry, index) => (outcomes[index]?.status === 'fulfilled' ? [entry.id] : []));
  acknowledgements.add(probe, done);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

/** Waits for what a registry says of the addresses of final results, where the operator wants it asked; never for long. */
async function prepareAll(
  { preparePlace }: IngestDependencies,
  entries: readonly StreamEntry[],
  checkTypes: readonly (AnyCheckType | undefined)[],
): Promise<void> {
  if (preparePlace === undefined) return;
  const addresses = entries.flatMap(({ kind, data }, index) => {
    const checkType = checkTypes[index];
    const address = kind === 'final' && checkType !== undefined ? registeredAddress(checkType, data) : undefined;
    return address === undefined ? [] : [address];
  });
  await within(Promise.all(addresses.map((address) => preparePlace(address))), PREPARE_MS);
}

/** Rejects only where the store did not take it: then the entry stays. */
async function takeInOne(
  dependencies: IngestDependencies,
  probe: string,
  { id, check, kind, data, png, traceparent }: StreamEntry,
  checkType: AnyCheckType | undefined,
): Promise<void> {
  const { redis, retentionMs, deadlines, readers, counters, isGrace, onFinal } = dependencies;
  const startedAt = performance.now();
  if (check === undefined) {
    counters.entriesMalformed += 1;
    return;
  }
  const [ms = 0, sequence = 0] = id.split('-').map(Number);
  const writtenAt = isGrace() ? 0 : ms;
  if (kind === 'screenshot') {
    await dependencies.screenshots.takeIn(probe, check, { data, png }, writtenAt);
    return;
  }
  if (checkType === undefined) {
    count(counters, kind, 'unknown');
    return;
  }
  const accepted = acceptResult(dependencies, checkType, { kind, data, writtenAtMs: ms });
  if (accepted.kind === 'partial') {
    const said = accepted.valid
      ? await onStore(redis, () => keepPartial(redis, check, probe, { ms, sequence }, accepted.json))
      : 'foreign';
    count(counters, kind, said);
    return;
  }
  const [said = 'unknown'] = await onStore(redis, () =>
    settle(redis, check, [[probe, accepted.json]], { retentionMs, deadlines, readers, writtenAt }),
  );
  count(counters, kind, said);
  if (said !== 'applied') return;
  if (!accepted.valid) counters.resultsInvalid += 1;
  onFinal?.({
    ...{ checkId: check, probe, type: checkType.type, result: accepted.valid ? accepted.result : 'error' },
    ...{ writtenAtMs: ms, tookMs: performance.now() - startedAt, traceparent },
  });
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
