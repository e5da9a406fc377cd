import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { cpuSeconds } from '../dns/process-cpu.ts';

/** CPU time that the present threads of a process have used, milliseconds. */
export function cpuMs(pid: number): number {
  return cpuSeconds(pid) * 1_000;
}

/** @returns a function that gives the CPU time of the processes since this call, milliseconds */
export function countCpu<Name extends string>(
  pids: Readonly<Record<Name, readonly number[]>>,
): () => Readonly<Record<Name, number>> {
  const names = Object.keys(pids) as Name[];
  const used = (name: Name): number => pids[name].reduce((sum, pid) => sum + cpuMs(pid), 0);
  const before = new Map(names.map((name) => [name, used(name)]));
  return () => Object.fromEntries(names.map((name) => [name, used(name) - before.get(name)!])) as Record<Name, number>;
}

/**
 * Starts a module as a process and waits until it reports that it is ready.
 *
 * @param inside words before its command, as of `ip netns exec`
 */
export async function startWorker(
  url: URL,
  args: readonly string[],
  inside: readonly string[] = [],
): Promise<{ readonly child: ChildProcess; readonly said: unknown }> {
  const child = startProcess(url, args, {}, [], inside);
  const [said] = (await Promise.race([once(child, 'message'), diedFirst(child, url)])) as [unknown];
  return { child, said };
}

export function startProcess(
  url: URL,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  execArgv: readonly string[] = [],
  inside: readonly string[] = [],
): ChildProcess {
  const words = [...inside, process.execPath];
  return fork(url, args, {
    env: { PATH: process.env['PATH'], ...env },
    execPath: words[0]!,
    execArgv: [...words.slice(1), '--conditions=vantage-source', ...execArgv],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

async function diedFirst(child: ChildProcess, url: URL): Promise<never> {
  await once(child, 'exit');
  throw new Error(`${url.pathname} ended before it was ready.`);
}

export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await Promise.race([ended, sleep(15_000, undefined, { ref: false })]);
  child.kill('SIGKILL');
}
