import { fork, type ChildProcess } from 'node:child_process';
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { createBackoff, pause } from '@vantage/timers';

import { killGroup } from './kill-group.ts';

export interface Supervised {
  readonly name: string;
  /** Undefined while the program is down. */
  readonly pid: () => number | undefined;
  /** Output of the program's last exit with an error status, such as a rejected configuration. */
  readonly failure: () => string | undefined;
  /** Sends SIGTERM, and SIGKILL after the grace period. */
  readonly stop: () => Promise<void>;
}

export interface Program {
  readonly name: string;
  /** Module to run. */
  readonly module: URL;
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
  /** Arguments of Node; those of this process if absent. */
  readonly execArgv?: readonly string[];
}

export interface Supervision {
  /** Called whenever the process starts or ends. */
  readonly onChange: () => void;
  readonly report: (line: string) => void;
  /** Grace period between SIGTERM and SIGKILL, milliseconds. */
  readonly graceMs: number;
}

interface Ending {
  /** Description of the exit. */
  readonly how: string;
  readonly failure: string | undefined;
}

const backoffMs = createBackoff({ firstMs: 500, longestMs: 10_000 });
/** Uptime after which a crash resets the restart backoff. */
const HEALTHY_AFTER_MS = 30_000;

const FAILURE_CHARACTERS = 2_000;

/** Runs a program and restarts it with exponential backoff whenever it exits. */
export function supervise(program: Program, supervision: Supervision): Supervised {
  const stopping = new AbortController();
  let child: ChildProcess | undefined;
  let failure: string | undefined;

  const run = async (): Promise<void> => {
    let failures = 0;
    while (!stopping.signal.aborted) {
      const started = performance.now();
      const ending = await runOnce(program, (running) => {
        child = running;
        supervision.onChange();
      });
      child = undefined;
      failure = ending.failure ?? failure;
      supervision.onChange();
      if (stopping.signal.aborted) return;
      if (performance.now() - started > HEALTHY_AFTER_MS) failures = 0;
      failures += 1;
      supervision.report(`${program.name} exited (${ending.how}); restarting it. Log: ${program.logFile}`);
      await pause(backoffMs(failures), stopping.signal);
    }
  };
  const ended = run();

  return {
    name: program.name,
    pid: () => child?.pid,
    failure: () => failure,
    stop: async () => {
      stopping.abort();
      child?.kill('SIGTERM');
      await Promise.race([ended, sleep(supervision.graceMs, undefined, { ref: false })]);
      child?.kill('SIGKILL');
      await ended;
    },
  };
}

/** Runs a program until it exits. Never rejects: a failure to open the log counts as an exit. */
async function runOnce(program: Program, started: (child: ChildProcess) => void): Promise<Ending> {
  try {
    const log = openSync(program.logFile, 'a');
    const logBytes = fstatSync(log).size;
    // The IPC channel carries no messages; it closes when the parent is killed, and the child exits.
    const child = fork(program.module, [], {
      env: { ...program.env },
      execArgv: [...(program.execArgv ?? process.execArgv)],
      // Own process group: Ctrl-C reaches only the supervisor, which stops the programs in order.
      detached: true,
      stdio: ['ignore', log, log, 'ipc'],
    });
    closeSync(log);
    started(child);
    return await new Promise((resolve) => {
      child.once('error', (error) => resolve({ how: error.message, failure: undefined }));
      child.once('exit', (code, signal) => {
        // Kills descendants that are left, such as a packet process or a browser that was stopped.
        if (child.pid !== undefined) killGroup(child.pid);
        const failure = code === null || code === 0 ? undefined : printedSince(program.logFile, logBytes);
        resolve({ how: signal ?? `status ${code ?? 'unknown'}`, failure });
      });
    });
  } catch (error) {
    return { how: Error.isError(error) ? error.message : String(error), failure: undefined };
  }
}

function printedSince(logFile: string, logBytes: number): string {
  try {
    const printed = readFileSync(logFile).subarray(logBytes).toString().trim();
    return printed.slice(-FAILURE_CHARACTERS);
  } catch {
    return '';
  }
}
