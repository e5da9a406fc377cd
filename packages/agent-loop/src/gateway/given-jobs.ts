import type { GatewayJob } from '@vantage/contract';

import type { QueuedJob } from '../probe-queue.ts';
import { rememberIds } from '../remember-ids.ts';

/** Jobs that gateways have sent to this agent. A job may be sent again, by any gateway, and runs once. */
export interface GivenJobs {
  readonly give: (job: GatewayJob) => void;
  /** Number of running jobs that count for the concurrency limit. */
  readonly running: () => number;
  readonly taken: () => number;
  /** True if no job is running and all results are acknowledged or dropped. */
  readonly isIdle: () => boolean;
  /** Resolves when `isIdle` is true. */
  readonly idle: () => Promise<void>;
}

export interface GivenJobsOptions {
  /** Resolves when the job has ended and its results are acknowledged or dropped. */
  readonly run: (job: QueuedJob) => Promise<void>;
  readonly isExempt: (id: string) => boolean;
  /** Has the gateway remove a job from the queue. */
  readonly done: (id: string) => void;
}

/** Least time for which given jobs are remembered: a gateway may send one again while its check lasts. */
const REMEMBER_MS = 300_000;

export function createGivenJobs({ run, isExempt, done }: GivenJobsOptions): GivenJobs {
  const known = rememberIds(REMEMBER_MS);
  const underWay = new Map<string, Promise<void>>();
  let taken = 0;
  let running = 0;

  const start = async (job: GatewayJob): Promise<void> => {
    const counts = isExempt(job.id) ? 0 : 1;
    running += counts;
    taken += counts;
    try {
      await run({ id: job.id, name: job.name, data: parse(job.data), timestamp: job.timestamp });
    } finally {
      running -= counts;
      underWay.delete(job.id);
      done(job.id);
    }
  };

  return {
    give: (job) => {
      if (underWay.has(job.id)) return;
      if (known.has(job.id)) return done(job.id);
      known.add(job.id);
      underWay.set(job.id, start(job));
    },
    running: () => running,
    taken: () => taken,
    isIdle: () => underWay.size === 0,
    idle: async () => {
      while (underWay.size > 0) await Promise.all(underWay.values());
    },
  };
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
