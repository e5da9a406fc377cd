import { pause } from '@vantage/timers';
import type { Logger } from 'pino';

import { backoffMs, isClosed, logRefusal } from './refusals.ts';

/** Removes finished jobs from the queue in batches. */
export interface Finisher<J> {
  readonly add: (job: J) => void;
  /** Resolves when all finished jobs are removed, or the connection was closed. Never rejects. */
  readonly flush: () => Promise<void>;
}

/** Interval between two removals: jobs that end meanwhile share the next one. */
const GATHER_MS = 30;

/** @param finish is retried after any error, except on a closed connection */
export function createFinisher<J>(
  finish: (jobs: readonly J[]) => Promise<void>,
  log: Pick<Logger, 'error'>,
): Finisher<J> {
  const underWay = new Set<Promise<void>>();
  let done: J[] = [];
  let timer: NodeJS.Timeout | undefined;
  let begunMs = Number.NEGATIVE_INFINITY;

  const finishAll = async (jobs: readonly J[]): Promise<void> => {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await finish(jobs);
      } catch (error) {
        if (isClosed(error)) return;
        logRefusal(log, error, attempt);
        await pause(backoffMs(attempt + 1));
      }
    }
  };

  const begin = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const jobs = done;
    done = [];
    if (jobs.length === 0) return;
    begunMs = performance.now();
    const work = finishAll(jobs);
    underWay.add(work);
    void work.finally(() => underWay.delete(work));
  };

  return {
    add: (job) => {
      done.push(job);
      if (timer !== undefined) return;
      const waitMs = begunMs + GATHER_MS - performance.now();
      if (waitMs <= 0) begin();
      else timer = setTimeout(begin, waitMs);
    },
    flush: async () => {
      begin();
      await Promise.all(underWay);
    },
  };
}
