import type { AnyCheckType, ResultKind, InlineResult } from '@vantage/contract';
import { within } from '@vantage/timers';

import { isStoreFault, onStore } from '../../redis/store.ts';
import { acceptResult, registeredAddress } from './validate-result.ts';
import { keepPartial, type Settlement } from '../store/check-records.ts';
import type { CheckTypes } from '../store/check-type-cache.ts';
import type { Counters } from '../store/counters.ts';
import { createAcknowledgements, type Acknowledgements } from './acknowledgements.ts';
import type { ExcessWatch } from '../../probes/access/excess-watch.ts';
import { claimIdle, readNew, type StreamEntry } from './result-stream.ts';
import { createResultsAhead, type ResultsAhead, type ResultsAheadDependencies } from './inline-results.ts';
import { showFinal } from './commit-result.ts';
import type { MasterGate } from '../../redis/server-state/master-gate.ts';
import type { Screenshots } from '../screenshots/screenshots.ts';

export interface IngestDependencies extends ResultsAheadDependencies {
  readonly types: CheckTypes;
  readonly screenshots: Pick<Screenshots, 'takeIn'>;
  readonly oversize: ExcessWatch;
  /** While it is closed, results stay in their streams. */
  readonly gate: Pick<MasterGate, 'isOpen'>;
  /** Asks a registry about an address ahead of `lookUpPlace`; absent where the operator wants none asked. Never rejects. */
  readonly preparePlace?: ((address: string) => Promise<void>) | undefined;
}

export interface Ingest {
  /**
   * Takes in everything that a probe has written before the call. Never rejects: what the store does not take stays in
   * the stream. Where the probe writes without end, it resolves with a part, and the rest follows.
   *
   * @param claimIdleMs takes over also what a coordinator has held for longer than this without an end
   */
  readonly drain: (probe: string, claimIdleMs?: number) => Promise<void>;
  /**
   * Takes in a final result that came with the hint of its entry, and then the stream. It is shown a round trip earlier.
   * Never rejects: where that comes to nothing the entry does.
   */
  readonly takeAhead: (probe: string, note: InlineResult) => void;
  /** Leaves nothing for another coordinator to find. Never rejects. */
  readonly close: () => Promise<void>;
}

/** A result that is in time must be written well before the check is ended: its place can wait no longer than this. */
const PREPARE_MS = 1_000;

/** Of a check of another coordinator: it shows it, or, where it is gone, this one after this time. */
const ELSEWHERE_MS = 100;
/** Who waits for a result that is shown ahead has it by then; nobody waits for what its entry costs. */
const SHOWN_MS = 5;
/** An agent that writes as fast as it is read must not keep the caller of a drain, and so the other probes, waiting without end. */
const DRAIN_MS = 1_000;
/** Until the rest is read. */
const REST_MS = 20;

interface Drain {
  running: Promise<void> | undefined;
  again: boolean;
  claimIdleMs: number | undefined;
}

/** Reads the probes' result streams into the checks. Whose result it is follows from the stream or the channel it came by. */
export function createIngest(dependencies: IngestDependencies): Ingest {
  const drains = new Map<string, Drain>();
  const done = createAcknowledgements(dependencies.redis);
  const ahead = createResultsAhead(dependencies);
  const soon = new Map<string, NodeJS.Timeout>();
  let closed = false;

  const run = async (probe: string, drain: Drain): Promise<void> => {
    try {
      const startedAt = performance.now();
      while (drain.again && performance.now() - startedAt < DRAIN_MS) {
        drain.again = false;
        const claimIdleMs = drain.claimIdleMs;
        drain.claimIdleMs = undefined;
        if (claimIdleMs !== undefined) await takeOver(dependencies, done, ahead, probe, claimIdleMs);
        drain.again = (await takeNew(dependencies, done, ahead, probe)) || drain.again;
      }
      if (drain.again) drainIn(probe, REST_MS);
    } catch (error) {
      noteFault(dependencies, probe, error);
    } finally {
      drains.delete(probe);
    }
  };

  const drain: Ingest['drain'] = (probe, claimIdleMs) => {
    if (!dependencies.gate.isOpen()) return Promise.resolve();
    const wanted = drains.get(probe) ?? { running: undefined, again: false, claimIdleMs: undefined };
    wanted.again = true;
    wanted.claimIdleMs = claimIdleMs ?? wanted.claimIdleMs;
    if (wanted.running !== undefined) return wanted.running;
    drains.set(probe, wanted);
    wanted.running = run(probe, wanted);
    return wanted.running;
  };

  const drainIn = (probe: string, milliseconds: number): void => {
    if (closed || soon.has(probe)) return;
    const timer = setTimeout(() => {
      soon.delete(probe);
      void drain(probe);
    }, milliseconds);
    soon.set(probe, timer);
  };

  return {
    drain,
    takeAhead: (probe, note) => {
      if (closed || !dependencies.gate.isOpen()) return;
      const checkType = dependencies.types.ofOwn(note.check);
      if (checkType === undefined) return drainIn(probe, ELSEWHERE_MS);
      if (dependencies.preparePlace !== undefined) {
        // Its place may have to be asked for first.
        void drain(probe);
        return;
      }
      ahead.show(probe, note, checkType);
      drainIn(probe, SHOWN_MS);
    },
    close: async () => {
      closed = true;
      for (const timer of soon.values()) clearTimeout(timer);
      // What was shown ahead is acknowledged.
      await Promise.all([...soon.keys()].map((probe) => drain(probe)));
      await done.close();
    },
  };
}

/** @returns true where there may be more */
async function takeNew(
  dependencies: IngestDependencies,
  done: Acknowledgements,
  ahead: ResultsAhead,
  probe: string,
): Promise<boolean> {
  const { entries, more } = await done.alongWith(probe, (ids) => readNew(dependencies.redis, probe, ids));
  for (const { isOversized } of entries) if (isOversized) dependencies.oversize.note(probe);
  await takeIn(dependencies, done, ahead, probe, entries);
  return more;
}

async function takeOver(
  dependencies: IngestDependencies,
  done: Acknowledgements,
  ahead: ResultsAhead,
  probe: string,
  idleMs: number,
): Promise<void> {
  // What is worked off is nothing to take over.
  await done.flush(probe);
  let cursor: string | undefined;
  do {
    const claimed = await claimIdle(dependencies.redis, probe, idleMs, cursor);
    await takeIn(dependencies, done, ahead, probe, claimed.entries);
    cursor = claimed.next;
  } while (cursor !== undefined);
}

async function takeIn(
  dependencies: IngestDependencies,
  acknowledgements: Acknowledgements,
  ahead: ResultsAhead,
  probe: string,
  entries: readonly StreamEntry[],
): Promise<void> {
  if (entries.length === 0) return;
  const { redis, types } = dependencies;
  const checkTypes = await Promise.all(
    entries.map(async ({ check }) => (check === undefined ? undefined : types.ofCheck(redis, check))),
  );
  await prepareAll(dependencies, entries, checkTypes);
  // The scripts of a batch leave in the order of the stream, in one go, but for what was to be shown ahead and was not.
  const underWay = new Map<string, Promise<unknown>>();
  const outcomes = await Promise.allSettled(
    entries.map((entry, index) => takeInOne({ ...dependencies, underWay }, ahead, probe, entry, checkTypes[index])),
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

interface BatchDependencies extends IngestDependencies {
  /** By check: a final result that needs a reading first. What the probe wrote after it waits. */
  readonly underWay: Map<string, Promise<unknown>>;
}

/** Rejects only where the store did not take it: then the entry stays. */
async function takeInOne(
  dependencies: BatchDependencies,
  ahead: ResultsAhead,
  probe: string,
  { id, check, kind, data, png, traceparent }: StreamEntry,
  checkType: AnyCheckType | undefined,
): Promise<void> {
  const { redis, counters, isGrace, underWay } = dependencies;
  const startedAt = performance.now();
  if (check === undefined) {
    counters.entriesMalformed += 1;
    return;
  }
  const earlier = underWay.get(check);
  if (earlier !== undefined) await earlier.catch(() => undefined);
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
  const shown = kind === 'final' ? ahead.wasShown(probe, check) : undefined;
  if (shown !== undefined && (await shown)) return;
  const accepted = acceptResult(dependencies, checkType, { kind, data, writtenAtMs: ms });
  if (accepted.kind === 'partial') {
    const said = accepted.valid
      ? await onStore(redis, () => keepPartial(redis, check, probe, { ms, sequence }, accepted.json))
      : 'foreign';
    count(counters, kind, said);
    return;
  }
  const final = { probe, check, checkType, accepted, startedAt, writtenAtMs: ms, traceparent };
  const showing = showFinal(dependencies, final, writtenAt);
  if (accepted.isCutShort) underWay.set(check, showing);
  count(counters, kind, await showing);
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
