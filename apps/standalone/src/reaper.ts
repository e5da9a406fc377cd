import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import type { Reaped } from './reaper-process.ts';

/** A process that outlives this one, should it be killed, and then ends what it has left behind. */
export interface Reaper {
  readonly pid: () => number | undefined;
  /** Tells it what runs now. */
  readonly tell: (reaped: Reaped) => void;
  /** For the orderly end, when nothing runs any more. */
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
    // Out of reach of Ctrl-C, and of whoever kills our process group.
    child = spawn(process.execPath, [...process.execArgv, program], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      env: {},
    });
    child.stdin?.on('error', () => undefined);
    child.once('error', () => undefined);
    child.once('exit', () => {
      if (!isStopping) setTimeout(start, START_AGAIN_MS).unref();
    });
    if (line !== '') tell();
  };
  start();

  return {
    pid: () => child.pid,
    tell: (reaped) => {
      line = `${JSON.stringify(reaped)}\n`;
      tell();
    },
    stop: () => {
      isStopping = true;
      child.stdin?.end();
    },
  };
}
