import { pause } from '@vantage/timers';
import type { Logger } from 'pino';

import { backoffMs, isClosed, logRefusal } from './refusals.ts';

/** Takes jobs that are done out of the queue, those that end at about the same time together. */
export interface Finisher<J> {
  readonly add: (job: J) => void;
  /** Resolves when nothing is left to take out. Never rejects. */
  readonly flush: () => Promise<void>;
}

/** How long a job that is done stays in the queue for others to join it. Its result is under way: this is not urgent. */
const GATHER_MS = 30;

/** @param finish whatever it rejects with is tried again, but for a connection that was closed */
export function createFinisher<J>(
  finish: (jobs: readonly J[]) => Promise<void>,
  log: Pick<Logger, 'error'>,
): Finisher<J> {
  const underWay = new Set<Promise<void>>();
  let done: J[] = [];
  let timer: NodeJS.Timeout | undefined;

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
    const work = finishAll(jobs);
    underWay.add(work);
    void work.finally(() => underWay.delete(work));
  };

  return {
    add: (job) => {
      done.push(job);
      timer ??= setTimeout(begin, GATHER_MS);
    },
    flush: async () => {
      begin();
      await Promise.all(underWay);
    },
  };
}
