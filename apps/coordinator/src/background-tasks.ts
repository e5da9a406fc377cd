import { setTimeout as sleep } from 'node:timers/promises';

import type { Log } from './redis/log.ts';
import { isStoreFault } from './redis/store.ts';

/** Work that a coordinator does again and again for as long as it runs. */
export interface BackgroundTask {
  readonly name: string;
  /** Does it once. Returns the milliseconds until the next time; where it rejects, that is 300. */
  readonly run: (round: number) => Promise<number>;
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

  const repeat = async ({ name, run }: BackgroundTask): Promise<void> => {
    for (let round = 0; !stopping.signal.aborted; round += 1) {
      looks.set(name, 0);
      const waitMs = await run(round).catch((error: unknown) => {
        // The connection is watched, and its loss logged, where it was opened.
        if (!isStoreFault(error)) log.error({ error, task: name }, 'background task failed');
        return AFTER_FAULT_MS;
      });
      looks.delete(name);
      await sleep(waitMs, undefined, { signal: stopping.signal }).catch(() => undefined);
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
