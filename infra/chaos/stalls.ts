import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import type { History } from './history.ts';

export interface StallWatch {
  /** Time for which the machine has stalled since `from`, milliseconds; `from` is in milliseconds since the epoch. */
  readonly since: (from: number) => number;
  readonly stop: () => Promise<void>;
}

/**
 * Measures stalls of the machine with a process that has no other task, and records them in the history: they are no
 * fault of the service.
 */
export function watchStalls(history: History): StallWatch {
  const spans: { readonly from: number; readonly to: number }[] = [];
  const child = fork(fileURLToPath(new URL('calibrator.ts', import.meta.url)), [], {
    execArgv: ['--conditions=vantage-source'],
  });
  child.on('message', (message) => {
    const span = message as { readonly from: number; readonly to: number };
    spans.push(span);
    history.add({ kind: 'stall', ...span });
  });
  return {
    since: (from) => spans.reduce((sum, span) => sum + Math.max(0, span.to - Math.max(span.from, from)), 0),
    stop: async () => {
      if (child.exitCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}
