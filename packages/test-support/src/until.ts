import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Polls a condition until it holds or the test runs out of time. If Redis does not answer because the machine is busy,
 * the condition is polled again.
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
