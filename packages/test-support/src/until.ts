import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits until a condition holds, as long as the test may take, and looks every so many milliseconds. A Redis that a busy
 * machine holds up for seconds has not answered: the condition is looked at again.
 */
export async function until(isSo: () => boolean | Promise<boolean>, everyMs = 50): Promise<void> {
  while (!(await holds(isSo))) await sleep(everyMs);
}

async function holds(isSo: () => boolean | Promise<boolean>): Promise<boolean> {
  try {
    return await isSo();
  } catch (error) {
    if (Error.isError(error) && error.name === 'StoreUnavailable') return false;
    throw error;
  }
}
