import type { Log } from '../../redis/log.ts';

import { isStoreFault } from '../../redis/store.ts';
import { JobSlots } from './job-slots.ts';
import { LeftoverJobs } from './leftover-jobs.ts';
import type { ProbeJobs, TakenJob } from './probe-jobs.ts';

/**
 * Takes jobs of a probe for one connection of its agent while the agent has free slots. A job holds one until its final
 * result or its end arrives; those for screenshots hold none.
 */
export interface JobFeed {
  /** Looks for new jobs in the queue. */
  readonly wake: () => void;
  /** Frees the slot of a job; the job stays in the queue. */
  readonly release: (id: string) => void;
  /** Frees the slot of a job and removes the job from the queue. */
  readonly finish: (id: string) => void;
  /** Gives no more jobs. */
  readonly stop: () => void;
  readonly running: () => number;
  readonly taken: () => number;
  /** True if a job still holds a slot long after its deadline, and the agent has ended none since it was overdue. */
  readonly isStuck: () => boolean;
}

export interface JobFeedOptions {
  readonly jobs: ProbeJobs;
  readonly instance: string;
  /** Most jobs at a time; screenshots are not counted. */
  readonly credit: number;
  readonly give: (job: TakenJob) => void;
  /** Milliseconds until the deadline of a job. */
  readonly leftMs: (job: TakenJob) => Promise<number>;
  /** Monotonic clock, milliseconds. */
  readonly nowMs?: () => number;
  /** True while a gateway holds a connection of this instance of the probe's agent. */
  readonly isConnected: (instance: string) => Promise<boolean>;
  /** Writes a failure as the result of a job whose agent is gone. Rejects if Redis is unavailable. */
  readonly interrupt: (id: string) => Promise<void>;
  readonly log: Log;
}

/** Delay before the taken jobs are read again, to find those that a replaced connection had taken. */
const POLL_AGAIN_MS = 2_000;
const RETRY_MS = 500;

export function createJobFeed(options: JobFeedOptions): JobFeed {
  return new ProbeJobFeed(options);
}

class ProbeJobFeed implements JobFeed {
  readonly #options: Required<JobFeedOptions>;
  readonly #slots: JobSlots;
  readonly #leftovers: LeftoverJobs;
  #isTaking = true;
  #isFirst = true;
  #isBusy = false;
  #again = false;
  #mustPoll = true;
  /** False only if the last poll left no job waiting and nothing has woken the feed since. */
  #mayWait = true;
  #taken = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: JobFeedOptions) {
    this.#options = { nowMs: () => performance.now(), ...options };
    this.#slots = new JobSlots(this.#options);
    this.#leftovers = new LeftoverJobs({ ...options, hold: (job) => this.#slots.hold(job) });
  }

  readonly wake = (): void => {
    if (this.#isFirst) this.#pollAgain(POLL_AGAIN_MS);
    this.#isFirst = false;
    this.#wake();
  };

  readonly release = (id: string): void => {
    if (this.#slots.release(id) && this.#mayWait) this.#wake();
  };

  readonly finish = (id: string): void => {
    if (this.#slots.finish(id) && this.#mayWait) this.#wake();
  };

  readonly stop = (): void => {
    this.#isTaking = false;
    clearTimeout(this.#timer);
  };

  readonly running = (): number => this.#slots.running();
  readonly taken = (): number => this.#taken;
  readonly isStuck = (): boolean => this.#slots.isStuck();

  #wake(): void {
    this.#again = true;
    if (this.#isBusy || !this.#isTaking) return;
    this.#isBusy = true;
    this.#run().catch((error: unknown) => {
      if (!isStoreFault(error)) this.#options.log.error({ err: error }, 'jobs could not be taken');
      // Redis may have executed the command although its reply was lost, so the list of taken jobs must be read.
      this.#mustPoll = true;
      this.#pollAgain(RETRY_MS);
    });
  }

  async #run(): Promise<void> {
    try {
      do {
        this.#again = false;
        this.#mayWait = true;
        await this.#takeAll();
      } while (this.#again && this.#isTaking);
    } finally {
      this.#isBusy = false;
    }
  }

  async #takeAll(): Promise<void> {
    const { jobs, credit } = this.#options;
    if (this.#mustPoll) {
      this.#mustPoll = false;
      if (await this.#leftovers.poll()) this.#pollAgain(POLL_AGAIN_MS);
    }
    for (let room = credit - this.running(); this.#isTaking && room > 0; room = credit - this.running()) {
      const found = await jobs.take(room);
      this.#mayWait = found.waiting > 0;
      this.#taken += found.jobs.length;
      for (const job of found.jobs) this.#slots.hold(job);
      if (!this.#mayWait) return;
    }
  }

  #pollAgain(ms: number): void {
    if (!this.#isTaking) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#mustPoll = true;
      this.#wake();
    }, ms);
  }
}
