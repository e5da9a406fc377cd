import { within } from '@vantage/timers';

import type { RedisClock } from '../redis/clock.ts';
import { isStoreFault, onStore } from '../redis/store.ts';
import { readCheck, type CheckRecord } from './store/check-records.ts';
import { timeoutResult } from './store/synthetic-results.ts';
import type { Ingest } from './ingest/ingest.ts';
import type { MasterGate } from '../redis/server-state/master-gate.ts';
import type { CheckScreenshots } from './screenshots/screenshots.ts';
import {
  pendingProbes,
  readKept,
  settleUnanswered,
  type MakeResult,
  type SettleDependencies,
} from './settle-unanswered.ts';

/** A poll waits while this many checks are ending, and starts to end at most this many others. */
const AT_ONCE = 100;

/**
 * Longest normal duration of one ending. A poll waits for an ending that takes longer, so that `/readyz` reports the
 * task.
 */
const LONGEST_ENDING_MS = 10_000;

/** Longest wait for the last results: a probe that never stops writing must not delay the end of a check. */
const LAST_LOOK_MS = 500;

/** At a deadline, entries that a coordinator has claimed for longer than this are taken over. */
const HELD_MS = 500;

export interface ExpiryDependencies extends SettleDependencies {
  readonly clock: RedisClock;
  readonly ingest: Pick<Ingest, 'drain'>;
  readonly screenshots: Pick<CheckScreenshots, 'end'>;
  /** True for a grace period after an outage of Redis, during which no deadline is enforced. */
  readonly isGrace: () => boolean;
  /** While closed, no deadline is enforced. */
  readonly gate: Pick<MasterGate, 'isOpen'>;
}

const timedOut: MakeResult = (_probe, partial, finishedAtMs) => timeoutResult(partial, finishedAtMs);

interface Ending {
  readonly startedAt: number;
  readonly done: Promise<void>;
}

/**
 * Ends every check whose deadline has passed: missing results become `timeout`, the screenshot is given up, waiting
 * jobs are removed. Every coordinator does so for all checks, without a lease: it is idempotent.
 * A poll does not wait for the endings: on a slow connection each takes several round trips, and other due checks would
 * end late.
 */
export class CheckExpiry {
  readonly #dependencies: ExpiryDependencies;
  readonly #endings = new Map<string, Ending>();

  constructor(dependencies: ExpiryDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Starts to end the due checks.
   *
   * @returns true if more checks may be due
   * @throws StoreUnavailable
   */
  async look(): Promise<boolean> {
    const { redis, clock, deadlines, isGrace, gate } = this.#dependencies;
    await this.#waitForCapacity();
    const sentAt = performance.now();
    // Checks that are ending are still in the set of due checks.
    const limit = AT_ONCE + this.#endings.size;
    const { nowMs, due } = await onStore(redis, () => deadlines.due(limit));
    clock.observe(nowMs, sentAt);
    if (isGrace() || !gate.isOpen()) return false;

    for (const id of due) if (!this.#endings.has(id)) this.#end(id, nowMs);
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

  #end(id: string, nowMs: number): void {
    const { redis, log } = this.#dependencies;
    const done = onStore(redis, () => endCheck(this.#dependencies, id, nowMs)).then(
      () => void this.#endings.delete(id),
      (error: unknown) => {
        this.#endings.delete(id);
        if (!isStoreFault(error)) log.error({ check: id, error }, 'check could not be ended');
      },
    );
    this.#endings.set(id, { startedAt: performance.now(), done });
  }
}

async function endCheck(dependencies: ExpiryDependencies, id: string, nowMs: number): Promise<void> {
  const { redis, ingest, deadlines } = dependencies;
  const early = await readKept(redis, id);
  if (early === undefined) return deadlines.forget(id);
  // The coordinator that completed the check may have died before counting it.
  if (early.completedAt !== null) return deadlines.forget(id, early.stored);
  // Results written in time count even if they have not been read yet.
  await within(Promise.all(awaited(early).map((probe) => ingest.drain(probe, HELD_MS))), LAST_LOOK_MS);
  const record = await readCheck(redis, id);
  if (record === undefined) return deadlines.forget(id);
  const ended = { probes: pendingProbes(record), nowMs, makeResult: timedOut };
  dependencies.counters.probesTimedOut += await settleUnanswered(dependencies, id, record, ended);
  if (record.screenshot.state === 'pending') await dependencies.screenshots.end(id);
}

/** The probes that still owe a final result or the screenshot. */
function awaited(record: CheckRecord): readonly string[] {
  const { state, probe } = record.screenshot;
  const photographers = state === 'pending' && probe !== null ? [probe] : [];
  return [...new Set([...pendingProbes(record), ...photographers])];
}
