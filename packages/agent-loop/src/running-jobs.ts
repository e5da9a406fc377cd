import type { Logger } from 'pino';

import { rememberIds } from './remember-ids.ts';

/**
 * The jobs that an agent runs. Withdrawn ones, such as those of a probe that was suspended or removed, end without a
 * result.
 */
export interface RunningJobs {
  /**
   * Runs a job.
   *
   * @param work gets a signal that aborts when the agent must stop now, or when the job is withdrawn
   * @returns false if the job was withdrawn before the agent had to stop; rejects if `work` does
   */
  readonly run: (id: string, work: (signal: AbortSignal) => Promise<void>) => Promise<boolean>;
  readonly ids: () => readonly string[];
  /** Ends these jobs, or all, without a result. */
  readonly withdraw: (ids?: Iterable<string>) => void;
  /** True for a job that was withdrawn, for at least five minutes. */
  readonly wasWithdrawn: (id: string) => boolean;
}

const REMEMBER_MS = 300_000;

/** Reason of the signal of a withdrawn job. */
class JobWithdrawn extends Error {
  override readonly name = 'JobWithdrawn';
}

/** True for the signal of a withdrawn job, of which no result is wanted. */
export function isWithdrawn({ reason }: AbortSignal): boolean {
  return reason instanceof JobWithdrawn;
}

/** @param interrupted aborted when the agent must stop now */
export function createRunningJobs(interrupted: AbortSignal, log: Pick<Logger, 'warn'>): RunningJobs {
  const running = new Map<string, AbortController>();
  const withdrawn = rememberIds(REMEMBER_MS);
  return {
    run: async (id, work) => {
      const own = new AbortController();
      const stop = (): void => own.abort(interrupted.reason);
      interrupted.addEventListener('abort', stop);
      if (interrupted.aborted) stop();
      running.set(id, own);
      try {
        await work(own.signal);
      } finally {
        interrupted.removeEventListener('abort', stop);
        running.delete(id);
      }
      return !isWithdrawn(own.signal);
    },
    ids: () => [...running.keys()],
    withdraw: (ids = running.keys()) => {
      const ended = [...ids].filter((id) => running.has(id));
      if (ended.length === 0) return;
      log.warn({ jobs: ended.length }, 'jobs ended: the probe may no longer run them');
      for (const id of ended) {
        withdrawn.add(id);
        running.get(id)?.abort(new JobWithdrawn());
      }
    },
    wasWithdrawn: withdrawn.has,
  };
}
