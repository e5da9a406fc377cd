import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import type { Netlab } from './netlab.ts';
import type { CheckOrder, CheckOutcome } from './run-check.ts';

/** Runs checks on the lab's probe, in one process there. */
export interface CheckRunner {
  readonly pid: number;
  readonly run: (order: Omit<CheckOrder, 'id'>) => Promise<Omit<CheckOutcome, 'id'>>;
  readonly stop: () => Promise<void>;
}

/** @param busyShare share of time for which the process of the checks does other work, 0 to 1 */
export function startCheckRunner(lab: Pick<Netlab, 'start'>, busyShare = 0): CheckRunner {
  const program = fileURLToPath(new URL('run-check.ts', import.meta.url));
  const child = lab.start('probe', process.execPath, '--conditions=vantage-source', program, String(busyShare));
  const waiting = new Map<number, PromiseWithResolvers<Omit<CheckOutcome, 'id'>>>();
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  createInterface({ input: child.stdout! }).on('line', (line) => {
    const { id, ...outcome } = JSON.parse(line) as CheckOutcome;
    waiting.get(id)?.resolve(outcome);
    waiting.delete(id);
  });
  let hasEnded: Error | undefined;
  child.once('exit', (code) => {
    hasEnded = new Error(`The check runner ended with status ${code}.`);
    for (const { reject } of waiting.values()) reject(hasEnded);
  });
  let last = 0;
  const run: CheckRunner['run'] = (order) => {
    if (hasEnded !== undefined) return Promise.reject(hasEnded);
    const outcome = Promise.withResolvers<Omit<CheckOutcome, 'id'>>();
    waiting.set((last += 1), outcome);
    child.stdin!.write(`${JSON.stringify({ id: last, ...order } satisfies CheckOrder)}\n`);
    return outcome.promise;
  };
  const stop = (): Promise<void> => {
    child.stdin!.end();
    return ended;
  };
  return { pid: child.pid!, run, stop };
}
