import { within } from '@vantage/timers';

import type { RedisClock } from '../redis/clock.ts';
import { isStoreFault, onStore } from '../redis/store.ts';
import { readAwaited, type Absent } from './store/records/check-records.ts';
import type { Deadlines } from './store/deadlines.ts';
import { errorResult, timeoutResult } from './store/synthetic-results.ts';
import type { Ingest } from './ingest/ingest.ts';
import type { MasterGate } from '../redis/server-state/master-gate.ts';
import type { CheckScreenshots } from './screenshots/screenshots.ts';
import {
  pendingProbes,
  readKept,
  completeUnanswered,
  type MakeResult,
  type CompletionDependencies,
} from './complete-unanswered.ts';

/**
 * Limit of checks that are being ended concurrently, beyond which a poll waits; also about the number that one poll
 * starts to end.
 */
const AT_ONCE = 100;

/** Longest normal duration of one ending. A poll waits for an ending that takes longer. */
const LONGEST_ENDING_MS = 10_000;

/** Longest wait for the last results: a probe that never stops writing must not delay the end of a check. */
const LAST_DRAIN_MS = 500;

/**
 * Time after which an ended check that is still due is looked at again: Redis may have refused to remove its deadline,
 * or a promoted replica may lack its completion.
 */
const POLL_AGAIN_MS = 1_000;

/**
 * At a deadline, stream entries that some coordinator read longer ago than this and has not acknowledged are claimed.
 */
const HELD_MS = 500;

export interface ExpiryDependencies extends CompletionDependencies {
  readonly clock: RedisClock;
  readonly ingest: Pick<Ingest, 'drain'>;
  readonly screenshots: Pick<CheckScreenshots, 'end'>;
  /** True for a grace period after an outage of Redis, during which no deadline is enforced. */
  readonly isGrace: () => boolean;
  /** While closed, no deadline is enforced. */
  readonly gate: Pick<MasterGate, 'isOpen'>;
}

const timedOut: MakeResult = (_probe, partial, finishedAtMs) => timeoutResult(partial, finishedAtMs);

function gotNoJob(absent: Absent): MakeResult {
  return (probe, _partial, finishedAtMs) => errorResult(...absent[probe]!, finishedAtMs);
}

interface Ending {
  readonly startedAt: number;
  readonly done: Promise<void>;
}

/**
 * Ends every check whose deadline has passed: missing results become `timeout`, or the failure for which a probe got no
 * job; the screenshot is given up, waiting jobs are removed. Every coordinator does so for all checks, without a lease:
 * it is idempotent.
 * A poll does not wait for the endings that it starts: on a slow connection each takes several round trips, and other
 * due checks would end late.
 */
export class CheckExpiry {
  readonly #dependencies: ExpiryDependencies;
  readonly #nowMs: () => number;
  readonly #endings = new Map<string, Ending>();
  /**
   * Checks that have ended and may still be among the due ones, with the time (monotonic clock, milliseconds): none is
   * ended again within `POLL_AGAIN_MS`.
   */
  #ended = new Map<string, number>();

  /** @param nowMs monotonic clock */
  constructor(dependencies: ExpiryDependencies, nowMs = (): number => performance.now()) {
    this.#nowMs = nowMs;
    const { deadlines, redis } = dependencies;
    const forget: Deadlines['forget'] = (id, stored) => {
      this.#ended.set(id, nowMs());
      deadlines.forget(id, stored);
    };
    this.#dependencies = { ...dependencies, deadlines: { ...deadlines, forget } };
    // After a failover, the new master may lack the completions.
    redis.on('close', () => this.#ended.clear());
  }

  /**
   * Starts to end the due checks; none in a grace period or while the gate is closed.
   *
   * @returns true if more checks may be due
   * @throws StoreUnavailable
   */
  async poll(): Promise<boolean> {
    const { redis, clock, deadlines, isGrace, gate } = this.#dependencies;
    await this.#waitForCapacity();
    const sentAt = performance.now();
    // Checks that are ending, or have ended, may still be in the set of due checks.
    const limit = AT_ONCE + this.#endings.size + this.#ended.size;
    const { nowMs, due } = await onStore(redis, () => deadlines.due(limit));
    clock.observe(nowMs, sentAt);
    if (isGrace() || !gate.isOpen()) return false;

    const isDue = new Set(due);
    for (const [id, endedAt] of this.#ended) {
      if (!isDue.has(id) || this.#nowMs() - endedAt >= POLL_AGAIN_MS) this.#ended.delete(id);
    }
    const drain = this.#drainOnce();
    for (const id of due) if (!this.#endings.has(id) && !this.#ended.has(id)) this.#end(id, nowMs, drain);
    return due.length === limit;
  }

  /** Resolves when no check is ending. Never rejects. */
  async settled(): Promise<void> {
    while (this.#endings.size > 0) await Promise.all([...this.#endings.values()].map(({ done }) => done));
  }

  async #waitForCapacity(): Promise<void> {
    const endings = [...this.#endings.values()];
    const long = endings.find(({ startedAt }) => performance.now() - startedAt > LONGEST_ENDING_MS);
    if (long !== undefined) await long.done;
    else if (endings.length >= AT_ONCE) await Promise.race(endings.map(({ done }) => done));
  }

  /** Reads the stream of each probe once for all checks that are due now: results written in time are in it. */
  #drainOnce(): (probe: string) => Promise<void> {
    const drains = new Map<string, Promise<void>>();
    return (probe) => {
      const drain = drains.get(probe) ?? this.#dependencies.ingest.drain(probe, HELD_MS);
      drains.set(probe, drain);
      return drain;
    };
  }

  #end(id: string, nowMs: number, drain: (probe: string) => Promise<void>): void {
    const { redis, log } = this.#dependencies;
    const done = onStore(redis, () => endCheck(this.#dependencies, id, nowMs, drain)).then(
      () => void this.#endings.delete(id),
      (error: unknown) => {
        this.#endings.delete(id);
        if (!isStoreFault(error)) log.error({ check: id, error }, 'check could not be ended');
      },
    );
    this.#endings.set(id, { startedAt: performance.now(), done });
  }
}

async function endCheck(
  dependencies: ExpiryDependencies,
  id: string,
  nowMs: number,
  drain: (probe: string) => Promise<void>,
): Promise<void> {
  const { redis, deadlines, counters, screenshots } = dependencies;
  // Results written in time count even if they have not been read yet.
  await within(Promise.all((await readAwaited(redis, id)).map(drain)), LAST_DRAIN_MS);
  const record = await readKept(redis, id);
  if (record === undefined) return deadlines.forget(id);
  // The coordinator that completed the check may have died before counting it.
  if (record.completedAt !== null) return deadlines.forget(id, record.stored);
  const { absent } = record;
  const pending = pendingProbes(record);
  const late = { probes: pending.filter((probe) => !Object.hasOwn(absent, probe)), nowMs, makeResult: timedOut };
  counters.probesTimedOut += await completeUnanswered(dependencies, id, record, late);
  // The coordinator that started the check died before it wrote these results.
  const left = { probes: pending.filter((probe) => Object.hasOwn(absent, probe)), nowMs, makeResult: gotNoJob(absent) };
  await completeUnanswered(dependencies, id, record, left);
  if (record.screenshot.state === 'pending') await screenshots.end(id);
}
