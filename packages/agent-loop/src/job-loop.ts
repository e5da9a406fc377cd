import type { Logger } from 'pino';

import { createFinisher } from './finisher.ts';
import { backoffMs, isClosed, logRefusal, refusalOf } from './refusals.ts';
import { rememberIds } from './remember-ids.ts';

/** A queue as the loop sees it. Whatever rejects is tried again. */
export interface JobSource<J> {
  /**
   * Takes the next job, waiting for one if need be. Questions are answered in their order, many may be under way.
   *
   * @returns its id, null if none came within the time, undefined if there was no answer: the connection was lost, or waiting
   *   was stopped. A job that was just given stays active then.
   */
  readonly next: (waitSeconds: number) => Promise<string | null | undefined>;
  /** Ends all waiting, and all that would follow. */
  readonly stopWaiting: () => void;
  /** Reads a job that was taken. Undefined if it is gone. */
  readonly read: (id: string) => Promise<J | undefined>;
  /** Takes jobs that are done out of the queue. */
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
  /** Called when a wait without a job was shorter or longer than asked for: the clock of Redis may have been stepped. */
  readonly onOddWait?: (() => void) | undefined;
  readonly log: Logger;
}

export interface JobLoop {
  readonly start: () => void;
  /** Takes no more jobs. Resolves when those under way have ended and left the queue. */
  readonly stop: () => Promise<void>;
  readonly running: () => number;
  /** True for a job that this loop was given in the last minutes. */
  readonly knows: (id: string) => boolean;
  /** Runs a job that was taken from the queue, though its answer never came. */
  readonly adopt: (id: string) => void;
  /** Counts up with each answer of the queue. */
  readonly turns: () => number;
  /** Jobs that were taken since the start. */
  readonly taken: () => number;
  /** True while all places are taken: then the loop asks for nothing. */
  readonly isFull: () => boolean;
  /** Why Redis refuses to give jobs, such as `NOPERM`, while it does. */
  readonly refusal: () => string | undefined;
}

/** Questions under way while no jobs come: while the answer of one travels, the next one waits. */
const IDLE = 2;
/** Shorter than the socket timeout of an agent's connection, which a wait must not reach. */
const IDLE_WAIT_SECONDS = 3;
/** With a longer round trip than this each job doubles the questions under way: more jobs may come before the next would arrive. */
const NEAR_MS = 2;
const WIDEST = 16;
/**
 * How long each further question waits. A connection that is lost without a sign takes jobs until all of its questions are
 * answered, so they must not add up to much.
 */
const FURTHER_WAIT_SECONDS = 0.25;
/** Redis ends waits by its clock of the day. */
const ODD_WAIT_MS = 500;
const REMEMBER_MS = 300_000;

/**
 * Takes jobs as soon as they are there: as long as places are free, questions for jobs are under way, and each answer is
 * followed by the next question before its job is run.
 */
export function createJobLoop<J>(options: JobLoopOptions<J>): JobLoop {
  const { source, concurrency, isAside = () => false, rttMs, run, onOddWait, log } = options;
  const finisher = createFinisher(source.finish, log);
  const known = rememberIds(REMEMBER_MS);
  const reading = new Set<string>();
  /** Everything that a stop waits for. */
  const underWay = new Set<Promise<void>>();
  /** Places that are held by a question, and by a job that was taken. */
  let [asked, held] = [0, 0];
  let width = IDLE;
  let [running, turns, taken] = [0, 0, 0];
  let failures = 0;
  let refusal: string | undefined;
  let rest: NodeJS.Timeout | undefined;
  /** The next wait begins when the one before it was answered. */
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

  /** Reads and runs a job that was taken, unless it is known: an answer may come after its job was missed and adopted. */
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
      width = id === null || rttMs() <= NEAR_MS ? IDLE : Math.min(width * 2, WIDEST);
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
      ask();
    },
    stop: async () => {
      isTaking = false;
      clearTimeout(rest);
      source.stopWaiting();
      // A job that came with the last answer is run to its end.
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
