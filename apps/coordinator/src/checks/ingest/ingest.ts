import type { InlineResult } from '@vantage/contract';

import { TICK_MS } from '../../redis/background-tasks.ts';
import type { MasterGate } from '../../redis/server-state/master-gate.ts';
import { isStoreFault } from '../../redis/store.ts';
import { createAcknowledgements, type Acknowledgements } from './acknowledgements.ts';
import { createInlineResults, type InlineResults } from './inline-results.ts';
import { releaseEntries } from './release-entries.ts';
import { StreamEntries, type EntryDependencies } from './stream-entries.ts';

export interface IngestDependencies extends EntryDependencies {
  /** While closed, no stream is read. */
  readonly gate: Pick<MasterGate, 'isOpen'>;
}

export interface Ingest {
  /**
   * Processes all entries that a probe has written before the call and no coordinator has read; none while the gate is
   * closed. Never rejects: entries that Redis does not accept stay in the stream. After `DRAIN_MS` it resolves, and the
   * rest follows.
   *
   * @param claimIdleMs also claims entries that a coordinator read longer ago than this and has not acknowledged
   */
  readonly drain: (probe: string, claimIdleMs?: number) => Promise<void>;
  /**
   * Commits a final result that came inside a notification, which saves a round trip. If that is not possible, the
   * stream is drained instead, at once or soon, or when the gate opens.
   */
  readonly commitInline: (probe: string, note: InlineResult) => void;
  /**
   * Deletes the stream entries of inline results that were committed since the last call, and acknowledges processed
   * entries. An entry of a committed inline result is deleted unread if only such entries precede it, unless the stream
   * has more than 64 of these. Never rejects.
   */
  readonly releaseCommitted: () => Promise<void>;
  /**
   * Deletes the entries of committed inline results, runs the scheduled drains, and acknowledges all processed entries.
   * Never rejects.
   */
  readonly close: () => Promise<void>;
}

/**
 * Delay before draining after a notification of another coordinator's check: that coordinator may commit the result and
 * delete its entry meanwhile.
 */
const ELSEWHERE_MS = 2 * TICK_MS;
/**
 * Time after which a drain begins no further read: an agent that writes as fast as it is read must not delay the caller
 * and other probes.
 */
const DRAIN_MS = 1_000;
/** Pause before a drain continues after `DRAIN_MS`. */
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
  return new IngestOfStreams(dependencies);
}

class IngestOfStreams implements Ingest {
  private readonly dependencies: IngestDependencies;
  private readonly done: Acknowledgements;
  private readonly inline: InlineResults;
  private readonly entries: StreamEntries;
  private readonly drains = new Map<string, Drain>();
  private readonly soon = new Map<string, NodeJS.Timeout>();
  /** Checks by probe whose inline results are committed and whose stream entries are not deleted yet. */
  private committed = new Map<string, string[]>();
  private closed = false;

  constructor(dependencies: IngestDependencies) {
    this.dependencies = dependencies;
    this.done = createAcknowledgements(dependencies.redis);
    this.inline = createInlineResults(dependencies);
    this.entries = new StreamEntries(dependencies, this.done, this.inline);
  }

  readonly drain: Ingest['drain'] = (probe, claimIdleMs) => {
    if (!this.dependencies.gate.isOpen()) return Promise.resolve();
    const wanted = this.drains.get(probe) ?? { running: undefined, again: false, claimIdleMs: undefined };
    wanted.again = true;
    // Of two concurrent calls the shorter idle time counts: it also claims the entries of the longer one.
    if (claimIdleMs !== undefined) wanted.claimIdleMs = Math.min(claimIdleMs, wanted.claimIdleMs ?? Infinity);
    if (wanted.running !== undefined) return wanted.running;
    this.drains.set(probe, wanted);
    wanted.running = this.run(probe, wanted);
    return wanted.running;
  };

  readonly commitInline: Ingest['commitInline'] = (probe, note) => {
    const { gate, types, preparePlace } = this.dependencies;
    if (this.closed || !gate.isOpen()) return;
    const checkType = types.ofOwn(note.check);
    if (checkType === undefined) return this.drainIn(probe, ELSEWHERE_MS);
    if (preparePlace !== undefined) {
      // The result may need an RDAP query first, which takes time.
      void this.drain(probe);
      return;
    }
    void this.inline.commit(probe, note, checkType).then((isCommitted) => {
      if (isCommitted) this.committed.set(probe, [...(this.committed.get(probe) ?? []), note.check]);
      else if (!this.closed) void this.drain(probe);
    });
  };

  readonly releaseCommitted = async (): Promise<void> => {
    const [unread] = await Promise.all([this.release(), this.done.flush()]);
    for (const probe of unread) void this.drain(probe);
  };

  readonly close = async (): Promise<void> => {
    this.closed = true;
    for (const timer of this.soon.values()) clearTimeout(timer);
    await Promise.all([...this.soon.keys(), ...(await this.release())].map((probe) => this.drain(probe)));
    await this.done.close();
  };

  private async run(probe: string, drain: Drain): Promise<void> {
    try {
      const startedAt = performance.now();
      while (drain.again && performance.now() - startedAt < DRAIN_MS) {
        drain.again = false;
        const claimIdleMs = drain.claimIdleMs;
        drain.claimIdleMs = undefined;
        if (claimIdleMs !== undefined) await this.entries.takeOver(probe, claimIdleMs);
        drain.again = (await this.entries.takeNew(probe)) || drain.again;
      }
      if (drain.again) this.drainIn(probe, REST_MS);
    } catch (error) {
      noteFault(this.dependencies, probe, error);
    } finally {
      this.drains.delete(probe);
    }
  }

  private drainIn(probe: string, milliseconds: number): void {
    if (this.closed || this.soon.has(probe)) return;
    const timer = setTimeout(() => {
      this.soon.delete(probe);
      void this.drain(probe);
    }, milliseconds);
    this.soon.set(probe, timer);
  }

  /** Deletes the stream entries of committed inline results. Returns the probes whose streams must be read. */
  private async release(): Promise<ReadonlySet<string>> {
    const released = this.committed;
    this.committed = new Map();
    const { gate, redis } = this.dependencies;
    // While the gate is closed, entries stay; all streams are read when it opens.
    if (released.size === 0 || !gate.isOpen()) return new Set();
    const unread = await releaseEntries(redis, released).catch(() => new Set(released.keys()));
    for (const [probe, checks] of released) {
      if (!unread.has(probe)) for (const check of checks) this.inline.forget(probe, check);
    }
    return unread;
  }
}

function noteFault({ counters, log }: IngestDependencies, probe: string, error: unknown): void {
  // The connection logs that Redis is unavailable.
  if (isStoreFault(error)) return;
  counters.streamFaults += 1;
  log.warn({ probe, error }, 'result stream could not be read');
}
