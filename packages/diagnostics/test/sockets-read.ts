import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits until whatever has been sent on loopback is read in this process: by turns of the event loop, not by the clock
 * alone, so that a stall of the machine cannot stand for all of the wait.
 */
export async function socketsRead(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await sleep(5);
}
