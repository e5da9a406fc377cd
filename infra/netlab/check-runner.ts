import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import type { Netlab } from './netlab.ts';
import type { CheckOrder, CheckOutcome } from './run-check.ts';

/** Runs checks on the lab's probe, in one process there. */
export interface CheckRunner {
  readonly run: (order: Omit<CheckOrder, 'id'>) => Promise<object>;
  readonly stop: () => Promise<void>;
}

export function startCheckRunner(lab: Netlab): CheckRunner {
  const program = fileURLToPath(new URL('run-check.ts', import.meta.url));
  const child = lab.start('probe', process.execPath, '--conditions=source', program);
  const waiting = new Map<number, PromiseWithResolvers<object>>();
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  createInterface({ input: child.stdout! }).on('line', (line) => {
    const { id, outcome } = JSON.parse(line) as CheckOutcome;
    waiting.get(id)?.resolve(outcome);
    waiting.delete(id);
  });
  child.once('exit', (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`The check runner ended with status ${code}.`));
  });
  let last = 0;
  const run: CheckRunner['run'] = (order) => {
    const outcome = Promise.withResolvers<object>();
    waiting.set((last += 1), outcome);
    child.stdin!.write(`${JSON.stringify({ id: last, ...order } satisfies CheckOrder)}\n`);
    return outcome.promise;
  };
  const stop = (): Promise<void> => {
    child.stdin!.end();
    return ended;
  };
  return { run, stop };
}
