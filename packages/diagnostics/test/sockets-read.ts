import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits until this process has read everything sent on loopback: by turns of the event loop as well as time, so that a
 * stall of the machine does not use up the whole wait.
 */
export async function socketsRead(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await sleep(5);
}
