import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { bundledProgram } from '@vantage/test-support/programs/bundled-program';
import { programEnv } from '@vantage/test-support/programs/program-env';

/** One program of the service, which can be killed and restarted. */
export interface Part {
  readonly name: string;
  /** Undefined while the program is not running. */
  readonly pid: () => number | undefined;
  /** True for a coordinator that has listened without interruption since this time of `performance.now()`. */
  readonly ranSince: (since: number) => boolean;
  readonly start: () => void;
  /** Resolves when the program that was started last logs that it is ready, or has ended. */
  readonly started: () => Promise<void>;
  /** Sends SIGSTOP, and SIGCONT after a time. Has no effect on a process that ends meanwhile or does not exist. */
  readonly pause: (ms: number) => Promise<void>;
  /** Sends SIGKILL, and waits for the exit. */
  readonly kill: () => Promise<void>;
  /** Sends SIGTERM and waits for the exit; false if the process had to be killed after two minutes. */
  readonly drain: () => Promise<boolean>;
}

const DRAINS_WITHIN_MS = 120_000;
const READY = /agent started|coordinator listening/;

export function definePart(
  name: string,
  app: 'coordinator' | 'probe-agent',
  env: Readonly<Record<string, string>>,
  logFile: string,
): Part {
  let child: ChildProcess | undefined;
  let listensSince = Number.POSITIVE_INFINITY;
  /** Size of the log when the process was started: earlier lines belong to another process. */
  let startedAt = 0;
  const runs = (): boolean => child !== undefined && child.exitCode === null && child.signalCode === null;
  const end = async (signal: 'SIGKILL' | 'SIGTERM', withinMs: number): Promise<boolean> => {
    if (!runs()) return true;
    listensSince = Number.POSITIVE_INFINITY;
    const ended = once(child!, 'exit');
    child!.kill(signal);
    const inTime = await Promise.race([ended.then(() => true), sleep(withinMs, false, { ref: false })]);
    child!.kill('SIGKILL');
    await ended;
    return inTime;
  };
  return {
    name,
    pid: () => (runs() ? child?.pid : undefined),
    ranSince: (since) => listensSince < since,
    started: async () => {
      while (runs() && !READY.test(readFileSync(logFile).subarray(startedAt).toString())) await sleep(50);
    },
    start: () => {
      const log = openSync(logFile, 'a');
      startedAt = fstatSync(log).size;
      child = fork(bundledProgram(app), [], {
        env: programEnv(env),
        stdio: ['ignore', log, log, 'ipc'],
      });
      closeSync(log);
      const started = child;
      // A coordinator sends a message when it listens.
      started.once('message', () => {
        if (child === started) listensSince = performance.now();
      });
      started.once('exit', () => {
        if (child === started) listensSince = Number.POSITIVE_INFINITY;
      });
    },
    kill: async () => {
      await end('SIGKILL', DRAINS_WITHIN_MS);
    },
    pause: async (ms) => {
      const paused = child;
      const listened = listensSince;
      listensSince = Number.POSITIVE_INFINITY;
      await standStill(runs() ? paused?.pid : undefined, ms);
      if (child === paused && runs() && Number.isFinite(listened)) listensSince = performance.now();
    },
    drain: () => end('SIGTERM', DRAINS_WITHIN_MS),
  };
}

/** Stops a process and continues it. Has no effect on one that ended meanwhile or does not exist. */
export async function standStill(pid: number | undefined, ms: number): Promise<void> {
  if (pid === undefined) return;
  try {
    process.kill(pid, 'SIGSTOP');
    await sleep(ms);
    process.kill(pid, 'SIGCONT');
  } catch {
    // The process has exited.
  }
}

/** All descendants of a process, with their command lines. */
export function descendantsOf(pid: number): readonly { readonly pid: number; readonly command: string }[] {
  return childrenOf(pid).flatMap((child) => [
    { pid: child, command: read(`/proc/${child}/cmdline`).replaceAll('\0', ' ') },
    ...descendantsOf(child),
  ]);
}

/** Resident memory of a process, MiB; 0 if it does not exist. */
export function residentMiB(pid: number | undefined): number {
  const match = pid === undefined ? null : /^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`));
  return match === null ? 0 : Number(match[1]) / 1_024;
}

function childrenOf(pid: number): readonly number[] {
  return read(`/proc/${pid}/task/${pid}/children`)
    .split(' ')
    .filter((text) => text !== '')
    .map(Number);
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
