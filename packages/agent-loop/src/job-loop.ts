import { setTimeout as sleep } from 'node:timers/promises';

import type { Logger } from 'pino';

import type { Pace } from './pace.ts';
import { createPlaces } from './places.ts';
import { backoffMs, isClosed, logRefusal, refusalOf } from './refusals.ts';
import { rememberIds } from './remember-ids.ts';

/** A queue as the loop sees it. Whatever rejects is tried again. */
export interface JobSource<J> {
  /** Takes the next job that is added. Resolves without one after a few seconds, and when waiting is stopped. */
  readonly wait: () => Promise<J | undefined>;
  /** Ends the wait under way and all that would follow. A job that it was just given stays active. */
  readonly stopWaiting: () => void;
  /** Takes a job that is there. */
  readonly take: () => Promise<J | undefined>;
  /** Takes a job that is done out of the queue; with `next` the answer brings another along. */
  readonly finish: (job: J, next: boolean) => Promise<J | undefined>;
  readonly idOf: (job: J) => string;
}

export interface JobLoopOptions<J> {
  readonly source: JobSource<J>;
  readonly concurrency: number;
  /** Jobs that run beside the places: whoever runs them has a limit of its own. Without it there are none. */
  readonly isAside?: ((job: J) => boolean) | undefined;
  readonly pace: Pace;
  /** The round trip to Redis, milliseconds. */
  readonly rttMs: () => number;
  /** Runs one job; never rejects. */
  readonly run: (job: J) => Promise<void>;
  readonly log: Logger;
}

export interface JobLoop<J> {
  readonly start: () => void;
  /** Takes no more jobs. Resolves when those under way have ended and left the queue. */
  readonly stop: () => Promise<void>;
  readonly running: () => number;
  /** True for a job that this loop was given in the last minutes. */
  readonly knows: (id: string) => boolean;
  /** Runs a job that was taken from the queue, though its answer never came. */
  readonly adopt: (job: J) => void;
  /** Counts up with each answer of the queue. */
  readonly turns: () => number;
  /** True while all places are taken: then the loop asks for nothing. */
  readonly isFull: () => boolean;
  /** Why Redis refuses to give jobs, such as `NOPERM`, while it does. */
  readonly refusal: () => string | undefined;
}

type Taken = { readonly isJob: boolean } | { readonly error: unknown };

/** Jobs fetched at once after one that was waited for: a look at whether there are more. A burst widens it per round trip. */
const NARROW = 1;
const WIDEN = 8;
const WIDEST = 16;
/**
 * At a dense pace the loop rests this long between two looks instead of waiting to be told, and a job that ends meanwhile
 * is exchanged for the next at the next look: little more than one command a job, instead of five.
 */
const REST_MS = 30;
/** With a longer round trip than this, a look that finds nothing costs less than one more round trip. */
const NEAR_MS = 2;
/** The first job of what may be a burst has Redis and this process for itself this long: a short one ends in it. */
const AHEAD_MS = 2;
/** How long a job that has ended stays in the queue where there is room for others. */
const BEHIND_MS = 2;
const REMEMBER_MS = 300_000;

/**
 * Takes jobs as soon as they are there and as fast as the line allows: the first of a burst is fetched by itself, the
 * rest many at a time, and a job that ends is exchanged for the next in one command.
 */
export function createJobLoop<J>(options: JobLoopOptions<J>): JobLoop<J> {
  const { source, concurrency, isAside = () => false, pace, rttMs, run, log } = options;
  const stopping = new AbortController();
  const known = rememberIds(REMEMBER_MS);
  /** Jobs whose answer was lost: it may come all the same. */
  const adopted = new Set<string>();
  const places = createPlaces(concurrency);
  /** Jobs that ended at a dense pace: their results are written, and the queue has them as active until the next look. */
  let ended: J[] = [];
  /** True while the next look comes soon, whatever happens. */
  let postpones = false;
  let running = 0;
  let turns = 0;
  let refusal: string | undefined;
  let isWaiting = false;
  const asides = new Set<Promise<void>>();

  const runQuietly = (job: J): Promise<void> =>
    run(job).catch((error: unknown) => log.error({ err: error }, 'a job came to no result'));

  const runAside = (job: J): void => {
    known.add(source.idOf(job));
    const aside = runQuietly(job)
      .then(async () => void (await finish(job, false)))
      .finally(() => asides.delete(aside));
    asides.add(aside);
  };

  /** Runs a job in its place, then whatever takes its place over. */
  const lane = async (first: J): Promise<void> => {
    let job: J | undefined = first;
    while (job !== undefined) {
      if (isAside(job)) {
        runAside(job);
        break;
      }
      known.add(source.idOf(job));
      pace.noteStart();
      running += 1;
      await runQuietly(job);
      running -= 1;
      if (postpones && !stopping.signal.aborted) {
        ended.push(job);
        break;
      }
      // The result is on its way through the same Redis; removing the job is not urgent.
      if (places.free() > 0) await sleep(BEHIND_MS);
      // A wait under way takes whatever comes.
      job = await finish(job, !isWaiting);
    }
    places.release();
  };

  const finish = async (job: J, next: boolean): Promise<J | undefined> => {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await source.finish(job, next && !stopping.signal.aborted);
      } catch (error) {
        if (isClosed(error)) return undefined;
        logRefusal(log, error, attempt);
        // Not stopped by the signal: the job would stay behind as interrupted.
        await sleep(backoffMs(attempt));
      }
    }
  };

  /** Takes a job that has ended out of the queue, in a place of its own, which the job that this brings takes over. */
  const exchange = async (job: J, next: boolean): Promise<Taken> => {
    places.hold(1);
    const brought = await finish(job, next);
    if (brought === undefined) places.release();
    else void lane(brought);
    return { isJob: brought !== undefined };
  };

  const exchangeEnded = (most: number): Promise<Taken>[] => {
    const jobs = ended;
    ended = [];
    return jobs.map((job, index) => exchange(job, index < most));
  };

  const take = async (): Promise<Taken> => {
    try {
      const job = await source.take();
      if (job === undefined) places.release();
      else void lane(job);
      return { isJob: job !== undefined };
    } catch (error) {
      places.release();
      return { error };
    }
  };

  /** Exchanges the jobs that have ended and takes as many more as `width` leaves, one at least. */
  const fetch = async (width: number): Promise<{ readonly taken: number; readonly isEmpty: boolean }> => {
    const room = places.free();
    const answers = exchangeEnded(room - 1);
    const takes = Math.max(1, Math.min(width, room) - answers.length);
    places.hold(takes);
    for (let left = takes; left > 0; left -= 1) answers.push(take());
    const results = await Promise.all(answers);
    turns += 1;
    const failed = results.find((result) => 'error' in result);
    if (failed !== undefined) throw failed.error;
    return { taken: results.filter(isJob).length, isEmpty: !results.slice(-1).some(isJob) };
  };

  /** @returns false when the loop is stopped */
  const waitForJob = async (): Promise<boolean> => {
    isWaiting = true;
    try {
      while (!stopping.signal.aborted) {
        const job = await source.wait();
        turns += 1;
        if (job === undefined || adopted.delete(source.idOf(job))) continue;
        start(job);
        return true;
      }
      return false;
    } finally {
      isWaiting = false;
    }
  };

  const start = (job: J): void => {
    places.hold(1);
    void lane(job);
  };

  /** Before the loop waits for something that may be long in coming. */
  const postponeNoMore = (): void => {
    postpones = false;
    void Promise.all(exchangeEnded(places.free()));
  };

  const loop = async (): Promise<void> => {
    let width = NARROW;
    let takenInRow = 0;
    let hasRested = false;
    for (let failures = 0; !stopping.signal.aborted;) {
      try {
        if (places.free() <= 0) postponeNoMore();
        await places.until(() => places.free() > 0);
        if (stopping.signal.aborted) return;
        postpones = pace.isDense();
        const { taken, isEmpty } = await fetch(width);
        failures = 0;
        refusal = undefined;
        takenInRow += taken;
        if (!isEmpty) {
          width = hasRested ? 1 : Math.min(width * WIDEN, WIDEST);
          hasRested = false;
          continue;
        }
        pace.noteLook(takenInRow);
        hasRested = pace.isDense();
        width = hasRested ? Math.min(takenInRow + 1, WIDEST) : NARROW;
        takenInRow = 0;
        if (hasRested) {
          await places.until(() => false, REST_MS);
          continue;
        }
        postponeNoMore();
        if (!(await waitForJob())) return;
        takenInRow = 1;
        if (rttMs() > NEAR_MS) width = WIDEST;
        else await sleep(AHEAD_MS);
      } catch (error) {
        if (stopping.signal.aborted || isClosed(error)) return;
        postponeNoMore();
        refusal = refusalOf(error);
        logRefusal(log, error, failures);
        await sleep(backoffMs(failures), undefined, { signal: stopping.signal }).catch(() => undefined);
        failures += 1;
      }
    }
  };
  let looping: Promise<void> | undefined;

  return {
    start: () => {
      looping ??= loop();
    },
    stop: async () => {
      stopping.abort();
      source.stopWaiting();
      void Promise.all(exchangeEnded(0));
      void places.close();
      // A job that came with the last answer is run to its end.
      await looping;
      await places.close();
      await Promise.all(asides);
    },
    running: () => running,
    knows: known.has,
    adopt: (job) => {
      const id = source.idOf(job);
      if (known.has(id)) return;
      adopted.add(id);
      start(job);
    },
    turns: () => turns,
    isFull: () => places.free() <= 0,
    refusal: () => refusal,
  };
}

function isJob(taken: Taken): boolean {
  return 'isJob' in taken && taken.isJob;
}
