import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { createEmpty, isFull, isMissing, moveDurable } from './durable-files.ts';

const NAME = /^counter\.(\d{1,15})$/;

/** The counter of a key: each value is used once, even if several processes use the key or one crashes. */
export interface Counter {
  /** Takes the next value, which is on the disk before it is returned. */
  readonly next: () => Promise<number>;
  /** True if the value is at most the highest that was taken in this folder. */
  readonly wasTaken: (value: number) => Promise<boolean>;
}

/**
 * Each value is the name of an empty file, of which the newest stays. The creation of a file is atomic, so that two
 * processes need no lock, and a crash leaves no half-written value.
 */
export function openCounter(folder: string): Counter {
  const taken = async (): Promise<readonly number[]> =>
    (await readdir(folder)).flatMap((name) => NAME.exec(name)?.[1] ?? []).map(Number);
  const highest = async (): Promise<number> => Math.max(0, ...(await taken()));

  const file = (value: number): string => join(folder, `counter.${value}`);
  const rename = async (value: number): Promise<boolean> => {
    try {
      await moveDurable(file(value - 1), file(value));
      return true;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  };
  const take = async (value: number): Promise<boolean> => {
    try {
      return await createEmpty(file(value));
    } catch (error) {
      if (value === 1 || !isFull(error)) throw error;
      // If there is no inode for a new file, the file of the previous value is renamed, which only one process can do.
      return rename(value);
    }
  };

  const next = async (): Promise<number> => {
    for (;;) {
      const value = (await highest()) + 1;
      if (!(await take(value))) continue;
      // Another process may have used this value and a higher one, and removed the file since.
      const all = await taken();
      await Promise.all(all.filter((other) => other < value).map((other) => rm(file(other), { force: true })));
      if (!all.some((other) => other > value)) return value;
    }
  };
  return { next, wasTaken: async (value) => value <= (await highest()) };
}
