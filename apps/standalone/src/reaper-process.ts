// Ends the processes of a killed supervisor. Its first argument is the last JSON line of the supervisor, empty if there
// was none; the supervisor writes another one at each change, and end of file on the pipe means that it has exited.
// Redis ends last, because results are written until then.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

import { killGroup } from './kill-group.ts';

/** Messages of the supervisor. Each process leads a process group. */
export interface SupervisedProcesses {
  readonly programs: readonly number[];
  readonly redis: number | null;
  /** Grace period between SIGTERM and SIGKILL, milliseconds. */
  readonly graceMs: number;
}

/** A process with its start time, since process ids are reused. */
interface Known {
  readonly pid: number;
  readonly startedAt: string | undefined;
}

const POLL_INTERVAL_MS = 50;

// systemd signals the whole group at once; this process ignores the signal, because it must exit last.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);

const known = new Map<number, Known>();
let last: SupervisedProcesses = { programs: [], redis: null, graceMs: 0 };

function learn(line: string): void {
  last = JSON.parse(line) as SupervisedProcesses;
  for (const pid of [...last.programs, ...(last.redis === null ? [] : [last.redis])]) {
    if (!known.has(pid)) known.set(pid, { pid, startedAt: startOf(pid) });
  }
}

const [, , first = ''] = process.argv;
if (first !== '') learn(first);
for await (const line of createInterface({ input: process.stdin })) learn(line);
await end(last.programs, last.graceMs);
await end(last.redis === null ? [] : [last.redis], last.graceMs);

async function end(pids: readonly number[], graceMs: number): Promise<void> {
  const orphans = pids.flatMap((pid) => known.get(pid) ?? []).filter((process) => !isOther(process));
  for (const { pid } of orphans) signalTo(pid, 'SIGTERM');
  const until = performance.now() + graceMs;
  while (orphans.some(isThere) && performance.now() < until) await sleep(POLL_INTERVAL_MS);
  // The group is killed even if its leader has exited: a stopped packet process may remain in it.
  for (const process of orphans) if (!isOther(process)) killGroup(process.pid);
}

function isThere({ pid, startedAt }: Known): boolean {
  return startOf(pid) === startedAt && signalTo(pid, 0);
}

/** True if the process id was reused. */
function isOther({ pid, startedAt }: Known): boolean {
  const now = startOf(pid);
  return now !== undefined && now !== startedAt;
}

function signalTo(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** Field 22 of proc(5) stat, in clock ticks since boot; undefined for a zombie, and if there is no such process. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie only waits for its parent.
    return state === 'Z' ? undefined : fields[18];
  } catch {
    return undefined;
  }
}
