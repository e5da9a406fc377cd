import type { Log } from './log.ts';
import { isStoreFault } from './store.ts';

/** Work that a coordinator repeats for as long as it runs. */
export interface BackgroundTask {
  readonly name: string;
  /**
   * Milliseconds from the start of a run to the start of the next, in whole ticks; more if the run takes longer. After
   * an error the next tick starts the next run.
   */
  readonly everyMs: number;
  /** Runs once. Returns `again` to be run at once again, or a pause before the next run in milliseconds. */
  readonly run: (round: number) => Promise<'again' | number | void>;
}

export interface BackgroundTasks {
  /** Names of the tasks whose current run has taken `STALLED_TICKS` or more. */
  readonly stalled: () => readonly string[];
  /** Starts no more runs. Resolves when the current ones have ended. */
  readonly stop: () => Promise<void>;
}

/**
 * Tasks start at common ticks, so that their commands share a write and their replies a read: each write or read wakes
 * Redis or this process.
 */
export const TICK_MS = 250;
/** Largest random part added to a tick, so that coordinators do not poll in step. */
const JITTER = 0.1;
/** Number of ticks after which a run counts as stalled. A stall of the process counts as one tick. */
const STALLED_TICKS = 10_000 / TICK_MS;

/** Starts all tasks; an error in one does not affect the others. */
export function startBackgroundTasks(
  tasks: readonly BackgroundTask[],
  log: Log,
  tickMs: number = TICK_MS,
): BackgroundTasks {
  const repeated = tasks.map((task) => new RepeatedTask(task, log));
  let timer: NodeJS.Timeout;
  const tickSoon = (): void => {
    timer = setTimeout(
      () => {
        tickSoon();
        // As a microtask: `TurnRedis` then writes the commands of the tasks after all pending promise callbacks,
        // together with theirs.
        queueMicrotask(() => {
          for (const task of repeated) task.tick();
        });
      },
      tickMs * (1 + JITTER * Math.random()),
    );
  };
  for (const task of repeated) task.tick();
  tickSoon();

  return {
    stalled: () => repeated.filter((task) => task.isStalled()).map(({ name }) => name),
    stop: async () => {
      clearTimeout(timer);
      await Promise.all(repeated.map((task) => task.stop()));
    },
  };
}

class RepeatedTask {
  readonly name: string;
  readonly #task: BackgroundTask;
  readonly #log: Log;
  readonly #everyTicks: number;
  #round = 0;
  /** Ticks since the start of the last run. */
  #ticks = 0;
  /** Ticks from that start to the next run. */
  #dueTicks = 0;
  #running: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(task: BackgroundTask, log: Log) {
    this.name = task.name;
    this.#task = task;
    this.#log = log;
    this.#everyTicks = Math.max(1, Math.round(task.everyMs / TICK_MS));
  }

  tick(): void {
    this.#ticks += 1;
    if (this.#running === undefined) {
      if (this.#timer === undefined && this.#ticks >= this.#dueTicks) this.#start();
    } else if (this.#ticks === STALLED_TICKS) this.#log.error({ task: this.name }, 'background task does not end');
  }

  isStalled(): boolean {
    return this.#running !== undefined && this.#ticks >= STALLED_TICKS;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #start(): void {
    this.#timer = undefined;
    this.#ticks = 0;
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    this.#dueTicks = this.#everyTicks;
    let again: 'again' | number | void = undefined;
    try {
      // In an async function, so that an exception of `run` itself is a rejection, too.
      again = await (async () => this.#task.run(this.#round))();
    } catch (error) {
      this.#dueTicks = 1;
      // The connection logs an outage of Redis, once.
      if (!isStoreFault(error)) this.#log.error({ error, task: this.name }, 'background task failed');
    }
    this.#round += 1;
    this.#running = undefined;
    if (again !== undefined && !this.#isStopped) {
      this.#timer = setTimeout(() => this.#start(), again === 'again' ? 0 : again);
    }
  }
}
