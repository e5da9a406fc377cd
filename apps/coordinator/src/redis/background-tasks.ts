import { pause } from '@vantage/timers';

import type { Log } from './log.ts';
import { isStoreFault } from './store.ts';

/** Work that a coordinator repeats for as long as it runs. */
export interface BackgroundTask {
  readonly name: string;
  /** Milliseconds between two runs; a range prevents coordinators from running in step. After an error it is 300. */
  readonly everyMs: number | { readonly from: number; readonly to: number };
  /** Runs once. `again` starts the next run at once, because there is more to do. */
  readonly run: (round: number) => Promise<'again' | void>;
}

export interface BackgroundTasks {
  /** Names of the tasks whose current run has taken ten seconds. */
  readonly stalled: () => readonly string[];
  /** Starts no more runs. Resolves when the current ones have ended. */
  readonly stop: () => Promise<void>;
}

const AFTER_FAULT_MS = 300;
const LOOK_EVERY_MS = 1_000;
/**
 * Number of ticks after which a run counts as stalled; each command of a task ends within seconds. A stall of the
 * process counts as one tick.
 */
const STALLED_LOOKS = 10;

/** Starts all tasks; an error in one does not affect the others. */
export function startBackgroundTasks(
  tasks: readonly BackgroundTask[],
  log: Log,
  lookEveryMs = LOOK_EVERY_MS,
): BackgroundTasks {
  const stopping = new AbortController();
  /** Ticks since the start of each task's current run. */
  const looks = new Map<string, number>();

  const repeat = async ({ name, everyMs, run }: BackgroundTask): Promise<void> => {
    for (let round = 0; !stopping.signal.aborted; round += 1) {
      looks.set(name, 0);
      const waitMs = await run(round).then(
        (more) => (more === 'again' ? 0 : millisecondsOf(everyMs)),
        (error: unknown) => {
          // Lost connections are logged where the connection was opened.
          if (!isStoreFault(error)) log.error({ error, task: name }, 'background task failed');
          return AFTER_FAULT_MS;
        },
      );
      looks.delete(name);
      await pause(waitMs, stopping.signal);
    }
  };

  const timer = setInterval(() => {
    for (const [name, count] of looks) {
      looks.set(name, count + 1);
      if (count + 1 === STALLED_LOOKS) log.error({ task: name }, 'background task does not end');
    }
  }, lookEveryMs).unref();
  const running = tasks.map(repeat);

  return {
    stalled: () => [...looks].filter(([, count]) => count >= STALLED_LOOKS).map(([name]) => name),
    stop: async () => {
      stopping.abort();
      clearInterval(timer);
      await Promise.all(running);
    },
  };
}

function millisecondsOf(every: BackgroundTask['everyMs']): number {
  return typeof every === 'number' ? every : every.from + Math.random() * (every.to - every.from);
}
