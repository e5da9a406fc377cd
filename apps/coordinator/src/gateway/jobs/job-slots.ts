import { createFinisher } from '@vantage/agent-loop';
import { checkOfScreenshotJob } from '@vantage/contract';

import type { Log } from '../../redis/log.ts';
import type { ProbeJobs, TakenJob } from './probe-jobs.ts';

export interface JobSlotsOptions {
  readonly jobs: Pick<ProbeJobs, 'discard'>;
  readonly give: (job: TakenJob) => void;
  /** Milliseconds until the deadline of a job. */
  readonly leftMs: (job: TakenJob) => Promise<number>;
  /** Monotonic clock, milliseconds. */
  readonly nowMs: () => number;
  readonly log: Log;
}

/** Limit of ended jobs that are still in the queue: beyond it the oldest is removed, also without `done`. */
const MOST_ENDED = 1_000;
/** Time after the deadline from which a job is overdue. */
const LATE_MS = 10_000;

/** The jobs that were given to the agent: those that hold a slot, and ended ones that are still in the queue. */
export class JobSlots {
  readonly #options: JobSlotsOptions;
  /** Jobs that occupy a slot, with the time from which they are overdue. */
  readonly #held = new Map<string, number>();
  /** Jobs with a final result or `done` that are still in the queue. */
  readonly #ended = new Set<string>();
  readonly #finisher: ReturnType<typeof createFinisher<string>>;
  #endedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: JobSlotsOptions) {
    this.#options = options;
    this.#finisher = createFinisher<string>(async (ids) => {
      await options.jobs.discard(ids);
      for (const id of ids) this.#ended.delete(id);
    }, options.log);
  }

  running(): number {
    return this.#held.size;
  }

  isStuck(): boolean {
    const nowMs = this.#options.nowMs();
    return [...this.#held.values()].some((lateAtMs) => lateAtMs <= nowMs && lateAtMs > this.#endedAtMs);
  }

  hold(job: TakenJob): void {
    if (this.#held.has(job.id) || this.#ended.has(job.id)) return;
    if (checkOfScreenshotJob(job.id) === undefined) this.#takeSlot(job);
    this.#options.give(job);
  }

  #takeSlot(job: TakenJob): void {
    this.#held.set(job.id, Number.POSITIVE_INFINITY);
    this.#options.leftMs(job).then(
      (left) => {
        if (this.#held.has(job.id)) this.#held.set(job.id, this.#options.nowMs() + left + LATE_MS);
      },
      () => undefined,
    );
  }

  /**
   * Frees the slot of a job whose final result has arrived; the job stays in the queue until `finish`.
   *
   * @returns false if the job had no slot
   */
  release(id: string): boolean {
    if (!this.#held.delete(id)) return false;
    this.#end(id);
    return true;
  }

  /**
   * Ends a job and removes it from the queue: the agent has sent `done`.
   *
   * @returns false if the job had no slot
   */
  finish(id: string): boolean {
    const wasHeld = this.#held.delete(id);
    this.#end(id);
    this.#finisher.add(id);
    return wasHeld;
  }

  #end(id: string): void {
    this.#endedAtMs = this.#options.nowMs();
    this.#ended.add(id);
    if (this.#ended.size <= MOST_ENDED) return;
    const [oldest = ''] = this.#ended;
    this.#ended.delete(oldest);
    this.#finisher.add(oldest);
  }
}
