import type { Log } from '../../redis/log.ts';
import type { ActiveJob, ProbeJobs, TakenJob } from './probe-jobs.ts';

export interface LeftoverJobsOptions {
  readonly jobs: Pick<ProbeJobs, 'active' | 'discard'>;
  /** Instance of the agent of this connection. */
  readonly instance: string;
  /** True while a gateway holds a connection of this instance of the probe's agent. */
  readonly isConnected: (instance: string) => Promise<boolean>;
  /** Gives a job to the agent, unless the agent has it already. */
  readonly hold: (job: TakenJob) => void;
  /** Writes a failure as the result of a job whose agent is gone. Rejects if Redis is unavailable. */
  readonly interrupt: (id: string) => Promise<void>;
  readonly log: Log;
}

/**
 * Taken jobs of a probe that this connection has not given: they are of the same agent, or of another that may be gone.
 */
export class LeftoverJobs {
  /** Jobs whose agents were not connected at the last poll. */
  #orphans: ReadonlySet<string> = new Set();

  readonly #options: LeftoverJobsOptions;

  constructor(options: LeftoverJobsOptions) {
    this.#options = options;
  }

  /**
   * Gives the agent those of its jobs that this connection has not given yet, and reports those of another agent as
   * interrupted if it is not connected at two polls in a row.
   *
   * @returns true if there are jobs of other agents
   */
  async poll(): Promise<boolean> {
    const { jobs, instance, isConnected, hold } = this.#options;
    const active = await jobs.active();
    const foreign: ActiveJob[] = [];
    for (const job of active) {
      if (job.data === '') await jobs.discard([job.id]);
      else if (job.taker === instance) hold(job);
      else if (!(await isConnected(job.taker))) foreign.push(job);
    }
    const left = foreign.filter(({ id }) => this.#orphans.has(id));
    this.#orphans = new Set(foreign.map(({ id }) => id));
    for (const { id } of left) await this.#interrupt(id);
    return active.some(({ taker }) => taker !== instance);
  }

  async #interrupt(id: string): Promise<void> {
    const { jobs, interrupt, log } = this.#options;
    log.warn({ check: id }, 'job interrupted');
    await interrupt(id);
    await jobs.discard([id]);
  }
}
