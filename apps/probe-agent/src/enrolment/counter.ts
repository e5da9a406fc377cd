import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { createEmpty } from './durable-files.ts';

const NAME = /^counter\.(\d{1,15})$/;

/** The counter of a key: each value is used once, even if several processes use the key or one crashes. */
export interface Counter {
  /** Takes the next value, which is on the disk before it is returned. */
  readonly next: () => Promise<number>;
  /** True if a value was taken from this folder. */
  readonly wasTaken: (value: number) => Promise<boolean>;
}

/**
 * The values are names of empty files, of which the newest stays: creation of a file is atomic, so that two processes need
 * no lock, and a crash leaves no half-written value.
 */
export function openCounter(folder: string): Counter {
  const taken = async (): Promise<readonly number[]> =>
    (await readdir(folder)).flatMap((name) => NAME.exec(name)?.[1] ?? []).map(Number);
  const highest = async (): Promise<number> => Math.max(0, ...(await taken()));

  const next = async (): Promise<number> => {
    for (;;) {
      const value = (await highest()) + 1;
      if (!(await createEmpty(join(folder, `counter.${value}`)))) continue;
      // Another process may have used this value and a higher one, and removed the file since.
      const all = await taken();
      await Promise.all(
        all.filter((other) => other < value).map((other) => rm(join(folder, `counter.${other}`), { force: true })),
      );
      if (!all.some((other) => other > value)) return value;
    }
  };
  return { next, wasTaken: async (value) => value <= (await highest()) };
}
