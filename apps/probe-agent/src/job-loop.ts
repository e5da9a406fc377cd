import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';

import type { Logger } from 'pino';

import { backoffMs, isClosed, logRefusal } from './refusals.ts';
import { rememberIds } from './remember-ids.ts';

/** A queue as the loop sees it. Whatever rejects is tried again. */
export interface JobSource<J> {
  /** Resolves when a job may be waiting, and after a few seconds in any case. */
  readonly wait: () => Promise<void>;
  /** Takes one job, in one round trip; several calls at once share it. */
  readonly take: () => Promise<J | undefined>;
  /** Forgets that a job may be waiting; what is added from then on is told again. */
  readonly forgetWaiting: () => Promise<void>;
  /** Takes a job that is done out of the queue; with `next` the answer brings another along. */
  readonly finish: (job: J, next: boolean) => Promise<J | undefined>;
  readonly idOf: (job: J) => string;
}

export interface JobLoopOptions<J> {
  readonly source: JobSource<J>;
  readonly concurrency: number;
  /** Runs one job; never rejects. */
  readonly run: (job: J) => Promise<void>;
  readonly log: Logger;
}

export interface JobLoop {
  readonly start: () => void;
  /** Takes no more jobs. Resolves when those under way have ended and left the queue. */
  readonly stop: () => Promise<void>;
  readonly running: () => number;
  /** True for a job that this loop was given in the last minutes. */
  readonly knows: (id: string) => boolean;
}

type Taken = { readonly isJob: boolean } | { readonly error: unknown };

/** Jobs fetched at once after waiting: one and a look at whether there are more. A burst widens it fourfold per round trip. */
const NARROW = 2;
const WIDEN = 4;
const WIDEST = 16;
/**
 * From about 180 jobs a second on (eight within 40 ms) the loop looks every 20 ms instead of waiting to be told, which
 * saves two commands a job or more; one caller who waits for each result before the next check stays below that.
 */
const BUSY_JOBS = 8;
const BUSY_WITHIN_MS = 40;
const BUSY_GAP_MS = 20;
const REMEMBER_MS = 300_000;

/**
 * Takes jobs as soon as they are there and as fast as the line allows: the first of a burst is fetched by itself, the
 * rest many at a time, and a job that ends is exchanged for the next in one command.
 */
export function createJobLoop<J>({ source, concurrency, run, log }: JobLoopOptions<J>): JobLoop {
  const stopping = new AbortController();
  const known = rememberIds(REMEMBER_MS);
  const emptied = Promise.withResolvers<void>();
  const starts: number[] = [];
  let running = 0;
  /** Running jobs and fetches under way: a job that is taken has a place. */
  let places = 0;
  let wake: (() => void) | undefined;

  const free = (): void => {
    places -= 1;
    wake?.();
    if (places === 0 && stopping.signal.aborted) emptied.resolve();
  };

  /** Waits until `holds`, looked at whenever a place frees, or for the time. */
  const until = async (holds: () => boolean, ms?: number): Promise<void> => {
    let isTimeUp = false;
    const timeUp = (): void => {
      isTimeUp = true;
      wake?.();
    };
    const timer = ms === undefined ? undefined : setTimeout(timeUp, ms);
    while (!holds() && !stopping.signal.aborted && !isTimeUp) {
      await new Promise<void>((resolve) => (wake = resolve));
    }
    wake = undefined;
    clearTimeout(timer);
  };

  /** Runs a job in its place, then whatever takes its place over. */
  const lane = async (first: J): Promise<void> => {
    let job: J | undefined = first;
    while (job !== undefined) {
      known.add(source.idOf(job));
      starts.push(performance.now());
      if (starts.length > BUSY_JOBS) starts.shift();
      running += 1;
      await run(job).catch((error: unknown) => log.error({ err: error }, 'a job came to no result'));
      running -= 1;
      job = await finish(job);
    }
    free();
  };

  const finish = async (job: J): Promise<J | undefined> => {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await source.finish(job, !stopping.signal.aborted);
      } catch (error) {
        if (isClosed(error)) return undefined;
        logRefusal(log, error, attempt);
        // Not stopped by the signal: the job would stay behind as interrupted.
        await sleep(backoffMs(attempt));
      }
    }
  };

  /** Takes up to `width` jobs; with `forget` so that waiting for more may follow when the last take found nothing. */
  const fetch = async (
    width: number,
    forget: boolean,
  ): Promise<{ readonly taken: number; readonly isEmpty: boolean }> => {
    places += width;
    const takes: Promise<Taken>[] = [];
    for (let index = 0; index < width; index += 1) {
      if (forget && index > 0 && index === width - 1) {
        // Each take says again that a job may be waiting. Behind them, and before the last: when that finds nothing,
        // nothing is there. BullMQ sends a command a few microtasks after its call.
        await turn();
        void source.forgetWaiting().catch(() => undefined);
      }
      takes.push(
        source.take().then(
          (job) => {
            if (job === undefined) free();
            else void lane(job);
            return { isJob: job !== undefined };
          },
          (error: unknown) => {
            free();
            return { error };
          },
        ),
      );
    }
    const results = await Promise.all(takes);
    const failed = results.find((result) => 'error' in result);
    if (failed !== undefined) throw failed.error;
    return { taken: results.filter(isJob).length, isEmpty: !results.slice(-1).some(isJob) };
  };

  const isBusy = (): boolean => starts.length === BUSY_JOBS && performance.now() - starts[0]! < BUSY_WITHIN_MS;

  const loop = async (): Promise<void> => {
    let width = NARROW;
    let takenInRow = 0;
    for (let failures = 0; !stopping.signal.aborted;) {
      try {
        await until(() => places < concurrency);
        if (stopping.signal.aborted) return;
        const wasBusy = isBusy();
        const { taken, isEmpty } = await fetch(Math.min(width, concurrency - places), !wasBusy);
        failures = 0;
        takenInRow += taken;
        if (!isEmpty) {
          width = wasBusy ? NARROW : Math.min(width * WIDEN, WIDEST);
        } else if (taken > 0 && isBusy()) {
          width = Math.min(takenInRow + 1, WIDEST);
          takenInRow = 0;
          await until(() => false, BUSY_GAP_MS);
        } else {
          width = NARROW;
          takenInRow = 0;
          await source.wait();
        }
      } catch (error) {
        if (isClosed(error)) return;
        logRefusal(log, error, failures);
        await sleep(backoffMs(failures), undefined, { signal: stopping.signal }).catch(() => undefined);
        failures += 1;
      }
    }
  };

  return {
    start: () => void loop(),
    stop: () => {
      stopping.abort();
      wake?.();
      if (places === 0) emptied.resolve();
      // Not the loop itself: it may be in a wait of some seconds, which ends with the connection.
      return emptied.promise;
    },
    running: () => running,
    knows: known.has,
  };
}

function isJob(taken: Taken): boolean {
  return 'isJob' in taken && taken.isJob;
}
