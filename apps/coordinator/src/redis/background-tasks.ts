import { pause } from '@vantage/timers';

import type { Log } from './log.ts';
import { isStoreFault } from './store.ts';

/** Work that a coordinator does again and again for as long as it runs. */
export interface BackgroundTask {
  readonly name: string;
  /** Milliseconds from the end of one run to the next; a range keeps coordinators from running in step. After a fault it is 300. */
  readonly everyMs: number | { readonly from: number; readonly to: number };
  /** Does it once. With `again` it is run at once: there is more to do. */
  readonly run: (round: number) => Promise<'again' | void>;
}

export interface BackgroundTasks {
  /** Names of the tasks that have not come to an end of their work for ten seconds. */
  readonly stalled: () => readonly string[];
  /** Starts no more work. Resolves when what runs has ended. */
  readonly stop: () => Promise<void>;
}

const AFTER_FAULT_MS = 300;
const LOOK_EVERY_MS = 1_000;
/** Each command of a task ends within seconds, with a reply or without. Time in which the process stood still is one look. */
const STALLED_LOOKS = 10;

/** Starts all tasks at once; each goes on whatever happens to the others. */
export function startBackgroundTasks(
  tasks: readonly BackgroundTask[],
  log: Log,
  lookEveryMs = LOOK_EVERY_MS,
): BackgroundTasks {
  const stopping = new AbortController();
  /** Of each task that is at work, the looks since it began. */
  const looks = new Map<string, number>();

  const repeat = async ({ name, everyMs, run }: BackgroundTask): Promise<void> => {
    for (let round = 0; !stopping.signal.aborted; round += 1) {
      looks.set(name, 0);
      const waitMs = await run(round).then(
        (more) => (more === 'again' ? 0 : millisecondsOf(everyMs)),
        (error: unknown) => {
          // The connection is watched, and its loss logged, where it was opened.
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
