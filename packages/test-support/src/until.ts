import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until a condition holds, as long as the test may take, and looks every so many milliseconds. */
export async function until(isSo: () => boolean | Promise<boolean>, everyMs = 50): Promise<void> {
  while (!(await isSo())) await sleep(everyMs);
}
