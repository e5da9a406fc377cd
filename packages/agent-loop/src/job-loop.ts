import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';

import type { Logger } from 'pino';

import type { Pace } from './pace.ts';
import { createPlaces } from './places.ts';
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
  /** Jobs that run beside the places: whoever runs them has a limit of its own. Without it there are none. */
  readonly isAside?: ((job: J) => boolean) | undefined;
  readonly pace: Pace;
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
 * At a dense pace the loop rests this long between two looks instead of waiting to be told, and a job that ends meanwhile
 * is exchanged for the next at the next look: little more than one command a job, instead of five.
 */
const REST_MS = 30;
/** Nothing beside the round trip to a Redis that is not near. */
const NEAR_MS = 1;
/** How long the first of what may be a burst has Redis and this process for itself: a short job ends meanwhile. */
const AHEAD_MS = 2;
/** How long a job that has ended stays in the queue where there is room for others. */
const BEHIND_MS = 2;
const REMEMBER_MS = 300_000;

/**
 * Takes jobs as soon as they are there and as fast as the line allows: the first of a burst is fetched by itself, the
 * rest many at a time, and a job that ends is exchanged for the next in one command.
 */
export function createJobLoop<J>(options: JobLoopOptions<J>): JobLoop {
  const { source, concurrency, isAside = () => false, pace, run, log } = options;
  const stopping = new AbortController();
  const known = rememberIds(REMEMBER_MS);
  const places = createPlaces(concurrency);
  /** Jobs that ended at a dense pace: their results are written, and the queue has them as active until the next look. */
  let ended: J[] = [];
  /** True while the next look comes soon, whatever happens. */
  let postpones = false;
  let running = 0;
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
      // Its result is on its way through the same Redis to whoever waits for it; nobody waits for this.
      if (places.free() > 0) await sleep(BEHIND_MS);
      job = await finish(job, true);
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

  /**
   * Exchanges the jobs that have ended and takes as many more as `width` leaves, one at least.
   *
   * @param forget so that waiting for more may follow when the last take found nothing
   */
  const fetch = async (
    width: number,
    forget: boolean,
  ): Promise<{ readonly taken: number; readonly isEmpty: boolean }> => {
    const room = places.free();
    const answers = exchangeEnded(room - 1);
    const takes = Math.max(1, Math.min(width, room) - answers.length);
    places.hold(takes);
    for (let left = takes; left > 0; left -= 1) {
      if (left === 1 && answers.length > 0) {
        // Where Redis is near, the first job starts before more is sent.
        const first = forget ? await Promise.race([answers[0], sleep(NEAR_MS)]) : undefined;
        if (first !== undefined && isJob(first)) await sleep(AHEAD_MS);
        // Behind the others: when the last finds nothing, nothing is there. BullMQ sends a command some microtasks after
        // its call, and some sooner than others.
        await turn();
        // Each take says again that a job may be waiting.
        if (forget) void source.forgetWaiting().catch(() => undefined);
      }
      answers.push(take());
    }
    const results = await Promise.all(answers);
    const failed = results.find((result) => 'error' in result);
    if (failed !== undefined) throw failed.error;
    return { taken: results.filter(isJob).length, isEmpty: !results.slice(-1).some(isJob) };
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
        const { taken, isEmpty } = await fetch(width, !postpones);
        failures = 0;
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
        } else {
          postponeNoMore();
          await source.wait();
        }
      } catch (error) {
        if (isClosed(error)) return;
        postponeNoMore();
        logRefusal(log, error, failures);
        await sleep(backoffMs(failures), undefined, { signal: stopping.signal }).catch(() => undefined);
        failures += 1;
      }
    }
  };

  return {
    start: () => void loop(),
    stop: async () => {
      stopping.abort();
      void Promise.all(exchangeEnded(0));
      // Not the loop itself: it may be in a wait of some seconds, which ends with the connection.
      await places.close();
      await Promise.all(asides);
    },
    running: () => running,
    knows: known.has,
  };
}

function isJob(taken: Taken): boolean {
  return 'isJob' in taken && taken.isJob;
}
