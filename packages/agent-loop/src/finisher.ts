import { pause } from '@vantage/timers';
import type { Logger } from 'pino';

import { backoffMs, isClosed, logRefusal } from './refusals.ts';

/** Removes finished jobs from the queue in batches. */
export interface Finisher<J> {
  readonly add: (job: J) => void;
  /** Resolves when all finished jobs are removed. Never rejects. */
  readonly flush: () => Promise<void>;
}

/**
 * How long a finished job waits for others to share a command. Its result is sent separately, so this is not urgent.
 */
const GATHER_MS = 30;

/** @param finish is retried after any error, except on a closed connection */
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
