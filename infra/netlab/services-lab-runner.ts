import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import type { LabOrder, LabOutcome } from './services-lab-checks.ts';
import type { ServicesLab } from './services-lab.ts';

/** Runs checks on the lab's probe, in one process there. */
export interface LabChecks {
  readonly run: (order: Omit<LabOrder, 'id'>) => Promise<object>;
  readonly stop: () => Promise<void>;
}

export function startLabChecks(lab: ServicesLab): LabChecks {
  const program = fileURLToPath(new URL('services-lab-checks.ts', import.meta.url));
  const child = lab.start('probe', process.execPath, '--conditions=vantage-source', program);
  const waiting = new Map<number, PromiseWithResolvers<object>>();
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  createInterface({ input: child.stdout! }).on('line', (line) => {
    const { id, outcome } = JSON.parse(line) as LabOutcome;
    waiting.get(id)?.resolve(outcome);
    waiting.delete(id);
  });
  child.once('exit', (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`The checks ended with status ${code}.`));
  });
  let last = 0;
  return {
    run: (order) => {
      const outcome = Promise.withResolvers<object>();
      waiting.set((last += 1), outcome);
      child.stdin!.write(`${JSON.stringify({ id: last, ...order } satisfies LabOrder)}\n`);
      return outcome.promise;
    },
    stop: () => {
      child.stdin!.end();
      return ended;
    },
  };
}
