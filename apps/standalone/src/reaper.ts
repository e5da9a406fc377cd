import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import type { SupervisedProcesses } from './reaper-process.ts';

/** A process that outlives a killed supervisor and ends its children. */
export interface Reaper {
  readonly pid: () => number | undefined;
  /** Reports the running processes. */
  readonly tell: (processes: SupervisedProcesses) => void;
  /** Stops the reaper. To be called after all processes have ended. */
  readonly stop: () => void;
}

const START_AGAIN_MS = 1_000;

export function startReaper(): Reaper {
  const file = `reaper-process.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`;
  const program = fileURLToPath(new URL(file, import.meta.url));
  let [line, isStopping] = ['', false];
  let child: ChildProcess;

  const tell = (): void => void child.stdin?.write(line);
  const start = (): void => {
    // Own session: neither Ctrl-C nor a signal to our process group reaches it. The line is an argument, because this
    // process may be killed before it can write to the pipe.
    child = spawn(process.execPath, [...process.execArgv, program, line], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      env: {},
    });
    child.stdin?.on('error', () => undefined);
    child.once('error', () => undefined);
    child.once('exit', () => {
      if (!isStopping) setTimeout(start, START_AGAIN_MS).unref();
    });
  };
  start();

  return {
    pid: () => child.pid,
    tell: (processes) => {
      line = `${JSON.stringify(processes)}\n`;
      tell();
    },
    stop: () => {
      isStopping = true;
      child.stdin?.end();
    },
  };
}
