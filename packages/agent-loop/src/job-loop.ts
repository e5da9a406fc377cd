import type { Logger } from 'pino';

import { createFinisher, type Finisher } from './finisher.ts';
import { backoffMs, isClosed, logRefusal, refusalOf } from './refusals.ts';
import { rememberIds } from './remember-ids.ts';
import { createTakeWidth, IDLE, type TakeWidth } from './take-width.ts';

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
  /**
   * True for a job that is exempt from the concurrency limit, because its runner has a separate limit. Without this
   * function no job is exempt.
   */
  readonly isExempt?: ((job: J) => boolean) | undefined;
  /** The round trip to Redis, milliseconds. */
  readonly rttMs: () => number;
  /** Runs one job; never rejects. False leaves the job in the queue. */
  readonly run: (job: J) => Promise<boolean | void>;
  /** Called when a wait without a job was shorter or longer than requested: Redis' clock may have been stepped. */
  readonly onOddWait?: (() => void) | undefined;
  readonly log: Logger;
}

export interface JobLoop {
  readonly start: () => void;
  /** Takes no more jobs. Resolves when the running ones have ended and left the queue. */
  readonly stop: () => Promise<void>;
  readonly running: () => number;
  /** True for a job that this loop took, for at least five minutes. */
  readonly knows: (id: string) => boolean;
  /** Runs an active job as if this loop had taken it, unless the loop `knows` it. */
  readonly adopt: (id: string) => void;
  /** Number of replies so far, error replies included: a restart of the agent would not end those. */
  readonly turns: () => number;
  /** Jobs taken or adopted since the start. */
  readonly taken: () => number;
  /** True while all slots are in use: then the loop takes no jobs. */
  readonly isFull: () => boolean;
  /** Why Redis refuses to return jobs, such as `NOPERM`; undefined if it does not. */
  readonly refusal: () => string | undefined;
}

/** Longest wait for a job; must be shorter than the socket timeout of an agent's connection. */
const IDLE_WAIT_SECONDS = 3;
/**
 * Timeout of each further take. On a connection that was lost silently, each pending take may take a job whose reply is
 * lost, so the sum of the timeouts must be small.
 */
const FURTHER_WAIT_SECONDS = 0.25;
/** Deviation from the requested wait that suggests a step of the clock of Redis, by which it ends waits. */
const ODD_WAIT_MS = 500;
const REMEMBER_MS = 300_000;

/**
 * Takes jobs as soon as they are available: while slots are free, takes are pending, and each reply is followed by the
 * next take before its job runs.
 */
export function createJobLoop<J>(options: JobLoopOptions<J>): JobLoop {
  return new Loop(options);
}

class Loop<J> implements JobLoop {
  private readonly options: JobLoopOptions<J>;
  private readonly finisher: Finisher<J>;
  private readonly known = rememberIds(REMEMBER_MS);
  private readonly reading = new Set<string>();
  /** Everything that a stop waits for. */
  private readonly underWay = new Set<Promise<void>>();
  /** Slots reserved by pending takes, and by taken jobs. */
  private readonly slots = { asked: 0, held: 0 };
  private readonly width: TakeWidth;
  private readonly counts = { running: 0, turns: 0, taken: 0 };
  private failures = 0;
  private refusalCode: string | undefined;
  private rest: NodeJS.Timeout | undefined;
  /**
   * When the last reply arrived, on the monotonic clock: the next take begins to wait then, since Redis serves one at a
   * time.
   */
  private answeredMs = 0;
  private isTaking = false;

  constructor(options: JobLoopOptions<J>) {
    this.options = options;
    this.width = createTakeWidth(options.rttMs);
    this.finisher = createFinisher(options.source.finish, options.log);
  }

  readonly start = (): void => {
    this.isTaking = true;
    this.ask();
  };

  readonly stop = async (): Promise<void> => {
    this.isTaking = false;
    clearTimeout(this.rest);
    this.options.source.stopWaiting();
    // Waits for a job that was taken by the last reply, too.
    while (this.underWay.size > 0) await Promise.all(this.underWay);
    await this.finisher.flush();
  };

  readonly running = (): number => this.counts.running;
  readonly knows = (id: string): boolean => this.reading.has(id) || this.known.has(id);
  readonly adopt = (id: string): void => this.track(this.workInPlace(id));
  readonly turns = (): number => this.counts.turns;
  readonly taken = (): number => this.counts.taken;
  readonly isFull = (): boolean => this.slots.held >= this.options.concurrency;
  readonly refusal = (): string | undefined => this.refusalCode;

  private ask(): void {
    const { slots, options } = this;
    const hasRoom = (): boolean => slots.asked < this.width.now() && slots.asked + slots.held < options.concurrency;
    while (this.isTaking && this.rest === undefined && hasRoom()) this.track(this.askOnce());
  }

  private async askOnce(): Promise<void> {
    const { source, rttMs, onOddWait } = this.options;
    const waitSeconds = this.slots.asked < IDLE ? IDLE_WAIT_SECONDS : FURTHER_WAIT_SECONDS;
    this.slots.asked += 1;
    const askedMs = performance.now();
    const id = await source.next(waitSeconds).catch(this.fail);
    this.slots.asked -= 1;
    const nowMs = performance.now();
    const waitedMs = nowMs - Math.max(askedMs, this.answeredMs);
    this.answeredMs = nowMs;
    if (id === null && Math.abs(waitedMs - waitSeconds * 1_000 - rttMs()) > ODD_WAIT_MS) onOddWait?.();
    if (id !== undefined) {
      [this.counts.turns, this.failures, this.refusalCode] = [this.counts.turns + 1, 0, undefined];
      this.width.answered(id !== null);
    }
    if (typeof id === 'string') this.track(this.workInPlace(id));
    this.ask();
  }

  private async workInPlace(id: string): Promise<void> {
    this.slots.held += 1;
    this.counts.taken += 1;
    await this.work(id).catch(this.fail);
    this.slots.held -= 1;
    this.ask();
  }

  /** Reads and runs a taken job, unless it is known: a reply may arrive after its job was found and adopted. */
  private async work(id: string): Promise<void> {
    const { source, isExempt = () => false } = this.options;
    if (this.knows(id)) return;
    this.reading.add(id);
    const job = await source.read(id).finally(() => this.reading.delete(id));
    if (job === undefined) return;
    this.known.add(id);
    if (isExempt(job)) return this.track(this.runToEnd(job));
    this.counts.running += 1;
    await this.runToEnd(job);
    this.counts.running -= 1;
  }

  private async runToEnd(job: J): Promise<void> {
    const { run, log } = this.options;
    const isOver = await run(job).catch((error: unknown) => log.error({ err: error }, 'job handler threw'));
    if (isOver !== false) this.finisher.add(job);
  }

  private readonly fail = (error: unknown): void => {
    if (isClosed(error)) return;
    this.refusalCode = refusalOf(error);
    if (this.refusalCode !== undefined) this.counts.turns += 1;
    if (this.rest !== undefined) return;
    logRefusal(this.options.log, error, this.failures);
    this.failures += 1;
    this.rest = setTimeout(() => {
      this.rest = undefined;
      this.ask();
    }, backoffMs(this.failures));
  };

  private track(work: Promise<void>): void {
    this.underWay.add(work);
    void work.finally(() => this.underWay.delete(work));
  }
}
