import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import type { History } from './history.ts';

/**
 * Measures stalls of the machine by a process without other tasks, and writes them into the history: the service is not
 * blamed for them.
 */
export function watchStalls(history: History): { readonly stop: () => Promise<void> } {
  const child = fork(fileURLToPath(new URL('calibrator.ts', import.meta.url)), [], {
    execArgv: ['--conditions=vantage-source'],
  });
  child.on('message', (span) =>
    history.add({ kind: 'stall', ...(span as { readonly from: number; readonly to: number }) }),
  );
  return {
    stop: async () => {
      if (child.exitCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}
