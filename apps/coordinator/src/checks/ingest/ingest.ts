import type { AnyCheckType, ResultKind, InlineResult } from '@vantage/contract';
import { within } from '@vantage/timers';

import { isStoreFault, onStore } from '../../redis/store.ts';
import { acceptResult, registeredAddress } from './validate-result.ts';
import { keepPartial, type Settlement } from '../store/check-records.ts';
import type { CheckTypes } from '../store/check-type-cache.ts';
import type { Counters } from '../store/counters.ts';
import { createAcknowledgements, type Acknowledgements } from './acknowledgements.ts';
import type { ExcessWatch } from '../../probes/access/excess-watch.ts';
import { releaseEntries } from './release-entries.ts';
import { claimIdle, readNew, type StreamEntry } from './result-stream.ts';
import { createInlineResults, type InlineResults, type ResultsAheadDependencies } from './inline-results.ts';
import { commitFinal } from './commit-result.ts';
import { TICK_MS } from '../../redis/background-tasks.ts';
import type { MasterGate } from '../../redis/server-state/master-gate.ts';
import type { CheckScreenshots } from '../screenshots/screenshots.ts';

export interface IngestDependencies extends ResultsAheadDependencies {
  readonly types: CheckTypes;
  readonly screenshots: Pick<CheckScreenshots, 'takeIn'>;
  readonly oversize: ExcessWatch;
  /** While closed, results stay in their streams. */
  readonly gate: Pick<MasterGate, 'isOpen'>;
  /** Fetches the registration of an address in advance; undefined if registries are not queried. Never rejects. */
  readonly preparePlace?: ((address: string) => Promise<void>) | undefined;
}

export interface Ingest {
  /**
   * Processes everything that a probe has written before the call. Never rejects: entries that Redis does not accept
   * stay in the stream. If the probe never stops writing, it resolves after a part, and the rest follows.
   *
   * @param claimIdleMs also claims entries that a coordinator has held for longer than this
   */
  readonly drain: (probe: string, claimIdleMs?: number) => Promise<void>;
  /**
   * Commits a final result that came inside a notification, which saves a round trip. Never rejects: the stream entry is the
   * fallback.
   */
  readonly commitInline: (probe: string, note: InlineResult) => void;
  /**
   * Deletes the entries of inline results that were committed since the last call, and acknowledges what was processed.
   * Readers have these results already, and nothing reads such an entry if it is the oldest of its stream. Never rejects.
   */
  readonly releaseCommitted: () => Promise<void>;
  /** Finishes or releases all claimed entries. Never rejects. */
  readonly close: () => Promise<void>;
}

/**
 * Longest wait for the registration data of addresses in a result: a timely result must be committed well before the
 * check ends.
 */
const PREPARE_MS = 1_000;

/**
 * Delay before draining after a notification of another coordinator's check: that coordinator commits the result and drains the
 * stream with its next tick unless it died.
 */
const ELSEWHERE_MS = 2 * TICK_MS;
/**
 * Longest duration of a drain: an agent that writes as fast as it is read must not delay the caller and other probes.
 */
const DRAIN_MS = 1_000;
/** Pause before the rest is drained. */
const REST_MS = 20;

interface Drain {
  running: Promise<void> | undefined;
  again: boolean;
  claimIdleMs: number | undefined;
}

/**
 * Reads the result streams of probes and commits the results. The stream or channel identifies the probe, never the
 * content.
 */
export function createIngest(dependencies: IngestDependencies): Ingest {
  const drains = new Map<string, Drain>();
  const done = createAcknowledgements(dependencies.redis);
  const ahead = createInlineResults(dependencies);
  const soon = new Map<string, NodeJS.Timeout>();
  /** Checks by probe whose inline results are committed and whose stream entries are not released. */
  let committed = new Map<string, string[]>();
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

  /** Returns the probes whose streams must be read. */
  const release = async (): Promise<ReadonlySet<string>> => {
    const released = committed;
    committed = new Map();
    // While the gate is closed, entries stay; all streams are read when it opens.
    if (released.size === 0 || !dependencies.gate.isOpen()) return new Set();
    const unread = await releaseEntries(dependencies.redis, released).catch(() => new Set(released.keys()));
    for (const [probe, checks] of released) {
      if (!unread.has(probe)) for (const check of checks) ahead.forget(probe, check);
    }
    return unread;
  };

  return {
    drain,
    commitInline: (probe, note) => {
      if (closed || !dependencies.gate.isOpen()) return;
      const checkType = dependencies.types.ofOwn(note.check);
      if (checkType === undefined) return drainIn(probe, ELSEWHERE_MS);
      if (dependencies.preparePlace !== undefined) {
        // The result may need an RDAP query first, which takes time.
        void drain(probe);
        return;
      }
      void ahead.show(probe, note, checkType).then((isCommitted) => {
        if (isCommitted) committed.set(probe, [...(committed.get(probe) ?? []), note.check]);
        else if (!closed) void drain(probe);
      });
    },
    releaseCommitted: async () => {
      const [unread] = await Promise.all([release(), done.flush()]);
      for (const probe of unread) void drain(probe);
    },
    close: async () => {
      closed = true;
      for (const timer of soon.values()) clearTimeout(timer);
      await Promise.all([...soon.keys(), ...(await release())].map((probe) => drain(probe)));
      await done.close();
    },
  };
}

/** @returns true if there may be more */
async function takeNew(
  dependencies: IngestDependencies,
  done: Acknowledgements,
  ahead: InlineResults,
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
  ahead: InlineResults,
  probe: string,
  idleMs: number,
): Promise<void> {
  // Acknowledged first, so that processed entries are not claimed.
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
  ahead: InlineResults,
  probe: string,
  entries: readonly StreamEntry[],
): Promise<void> {
  if (entries.length === 0) return;
  const { redis, types } = dependencies;
  const checkTypes = await Promise.all(
    entries.map(async ({ check }) => (check === undefined ? undefined : types.ofCheck(redis, check))),
  );
  await prepareAll(dependencies, entries, checkTypes);
  // The scripts of a batch are sent in the order of the stream, in one pipeline, except those that follow a failed
  // inline commit.
  const underWay = new Map<string, Promise<unknown>>();
  const outcomes = await Promise.allSettled(
    entries.map((entry, index) => takeInOne({ ...dependencies, underWay }, ahead, probe, entry, checkTypes[index])),
  );
  const done = entries.flatMap((entry, index) => (outcomes[index]?.status === 'fulfilled' ? [entry.id] : []));
  acknowledgements.add(probe, done);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

/** Waits, for a bounded time, for the registrations of addresses in final results. */
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
  /** By check: final results whose commit needs a read first. Later entries of the probe wait for them. */
  readonly underWay: Map<string, Promise<unknown>>;
}

/** Rejects only if Redis does not accept the result; the entry then stays. */
async function takeInOne(
  dependencies: BatchDependencies,
  ahead: InlineResults,
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
  const shown = kind === 'final' ? ahead.wasCommitted(probe, check) : undefined;
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
  const showing = commitFinal(dependencies, final, writtenAt);
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
  // The connection itself reports that it is lost.
  if (isStoreFault(error)) return;
  counters.streamFaults += 1;
  log.warn({ probe, error }, 'result stream could not be read');
}
