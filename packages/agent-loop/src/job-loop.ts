import type { Logger } from 'pino';

import { createFinisher } from './finisher.ts';
import { backoffMs, isClosed, logRefusal, refusalOf } from './refusals.ts';
import { rememberIds } from './remember-ids.ts';

/** A queue as the loop uses it. Rejected calls are retried. */
export interface JobSource<J> {
  /**
   * Takes the next job; blocks if there is none. Replies arrive in order, and calls may be concurrent.
   *
   * @returns its id, null after the timeout, undefined without a reply: the connection was lost, or waiting was
   * stopped. A job taken by a lost reply stays active.
   */
  readonly next: (waitSeconds: number) => Promise<string | null | undefined>;
  /** Ends all current and later waits. */
  readonly stopWaiting: () => void;
  /** Reads a taken job. Undefined if it no longer exists. */
  readonly read: (id: string) => Promise<J | undefined>;
  /** Removes finished jobs from the queue. */
  readonly finish: (jobs: readonly J[]) => Promise<void>;
}

export interface JobLoopOptions<J> {
  readonly source: JobSource<J>;
  readonly concurrency: number;
  /** Jobs exempt from the concurrency limit: their runner has a separate limit. Without it no job is exempt. */
  readonly isAside?: ((job: J) => boolean) | undefined;
  /** The round trip to Redis, milliseconds. */
  readonly rttMs: () => number;
  /** Runs one job; never rejects. */
  readonly run: (job: J) => Promise<void>;
  /**
   * Called when a wait without a job took shorter or longer than requested: the clock of Redis may have been stepped.
   */
  readonly onOddWait?: (() => void) | undefined;
  readonly log: Logger;
}

export interface JobLoop {
  readonly start: () => void;
  /** Takes no more jobs. Resolves when the running ones have ended and left the queue. */
  readonly stop: () => Promise<void>;
  readonly running: () => number;
  /** True for a job that this loop took in the last minutes. */
  readonly knows: (id: string) => boolean;
  /** Runs a job that was taken by a lost reply. */
  readonly adopt: (id: string) => void;
  /** Counts up with each answer of the queue, refusals too: no restart of the agent would end those. */
  readonly turns: () => number;
  /** Jobs taken since the start. */
  readonly taken: () => number;
  /** True while all slots are in use: then the loop takes no jobs. */
  readonly isFull: () => boolean;
  /** Why Redis refuses to return jobs, such as `NOPERM`; undefined if it does not. */
  readonly refusal: () => string | undefined;
}

/**
 * Concurrent takes while there are no jobs. Far from Redis two: while one reply travels, the next take waits. Near it
 * one, so that the read of its job and the next take share a write.
 */
const IDLE = 2;
const IDLE_NEAR = 1;
/** Shorter than the socket timeout of an agent's connection, which a wait must not reach. */
const IDLE_WAIT_SECONDS = 3;
/** Above this round-trip time, each job doubles the concurrent takes: jobs may arrive faster than the next take. */
const NEAR_MS = 1;
const WIDEST = 16;
/**
 * Timeout of each additional take. A silently lost connection takes a job for each pending take, so the sum must be
 * small.
 */
const FURTHER_WAIT_SECONDS = 0.25;
/** Redis ends waits by its clock of the day. */
const ODD_WAIT_MS = 500;
const REMEMBER_MS = 300_000;

/**
 * Takes jobs as soon as they are available: while slots are free, takes are pending, and each reply is followed by the
 * next take before its job runs.
 */
export function createJobLoop<J>(options: JobLoopOptions<J>): JobLoop {
  const { source, concurrency, isAside = () => false, rttMs, run, onOddWait, log } = options;
  const finisher = createFinisher(source.finish, log);
  const known = rememberIds(REMEMBER_MS);
  const reading = new Set<string>();
  /** Everything that a stop waits for. */
  const underWay = new Set<Promise<void>>();
  /** Slots reserved by a pending take, and by a taken job. */
  let [asked, held] = [0, 0];
  const idleWidth = (): number => (rttMs() <= NEAR_MS ? IDLE_NEAR : IDLE);
  let width = 0;
  let [running, turns, taken] = [0, 0, 0];
  let failures = 0;
  let refusal: string | undefined;
  let rest: NodeJS.Timeout | undefined;
  /** The next wait begins once the previous one was answered. */
  let answeredMs = 0;
  let isTaking = false;

  const knows = (id: string): boolean => reading.has(id) || known.has(id);

  const track = (work: Promise<void>): void => {
    underWay.add(work);
    void work.finally(() => underWay.delete(work));
  };

  const fail = (error: unknown): void => {
    if (isClosed(error)) return;
    refusal = refusalOf(error);
    if (refusal !== undefined) turns += 1;
    if (rest !== undefined) return;
    logRefusal(log, error, failures);
    rest = setTimeout(
      () => {
        rest = undefined;
        ask();
      },
      backoffMs(failures + 1),
    );
    failures += 1;
  };

  const runToEnd = async (job: J): Promise<void> => {
    await run(job).catch((error: unknown) => log.error({ err: error }, 'job handler threw'));
    finisher.add(job);
  };

  /** Reads and runs a taken job, unless it is known: a reply may arrive after its job was found and adopted. */
  const work = async (id: string): Promise<void> => {
    if (knows(id)) return;
    reading.add(id);
    const job = await source.read(id).finally(() => reading.delete(id));
    if (job === undefined) return;
    known.add(id);
    if (isAside(job)) return track(runToEnd(job));
    running += 1;
    await runToEnd(job);
    running -= 1;
  };

  const workInPlace = async (id: string): Promise<void> => {
    held += 1;
    taken += 1;
    await work(id).catch(fail);
    held -= 1;
    ask();
  };

  const askOnce = async (): Promise<void> => {
    const waitSeconds = asked < IDLE ? IDLE_WAIT_SECONDS : FURTHER_WAIT_SECONDS;
    asked += 1;
    const askedMs = performance.now();
    const id = await source.next(waitSeconds).catch(fail);
    asked -= 1;
    const nowMs = performance.now();
    const waitedMs = nowMs - Math.max(askedMs, answeredMs);
    answeredMs = nowMs;
    if (id === null && Math.abs(waitedMs - waitSeconds * 1_000 - rttMs()) > ODD_WAIT_MS) onOddWait?.();
    if (id !== undefined) {
      [turns, failures, refusal] = [turns + 1, 0, undefined];
      width = id === null || rttMs() <= NEAR_MS ? idleWidth() : Math.min(width * 2, WIDEST);
    }
    if (typeof id === 'string') track(workInPlace(id));
    ask();
  };

  const ask = (): void => {
    while (isTaking && rest === undefined && asked < width && asked + held < concurrency) track(askOnce());
  };

  return {
    start: () => {
      isTaking = true;
      width = idleWidth();
      ask();
    },
    stop: async () => {
      isTaking = false;
      clearTimeout(rest);
      source.stopWaiting();
      // Waits for a job that was taken by the last reply, too.
      while (underWay.size > 0) await Promise.all(underWay);
      await finisher.flush();
    },
    running: () => running,
    knows,
    adopt: (id) => track(workInPlace(id)),
    turns: () => turns,
    taken: () => taken,
    isFull: () => held >= concurrency,
    refusal: () => refusal,
  };
}
