import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Gives this process time to read what was sent on loopback: turns of the event loop as well as time, so that a stall
 * of the machine does not use up the whole wait.
 */
export async function socketsRead(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await sleep(5);
}
