// Ends what a supervisor leaves behind that was killed. The supervisor writes a line of JSON at each change of what it runs;
// the end of that pipe is its own end, however that came. Redis goes last: until then results are written.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

import { killGroup } from './kill-group.ts';

/** What the supervisor writes. Each is the leader of a process group. */
export interface Reaped {
  readonly programs: readonly number[];
  readonly redis: number | null;
  /** Longest time that a process may take to end after SIGTERM, milliseconds. */
  readonly graceMs: number;
}

/** A process, and when it started: its number may pass to another one. */
interface Known {
  readonly pid: number;
  readonly startedAt: string | undefined;
}

const LOOK_EVERY_MS = 50;

// A signal to everything at once, as systemd sends it, is for the others: this process ends after them.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);

const known = new Map<number, Known>();
let last: Reaped = { programs: [], redis: null, graceMs: 0 };
for await (const line of createInterface({ input: process.stdin })) {
  last = JSON.parse(line) as Reaped;
  for (const pid of [...last.programs, ...(last.redis === null ? [] : [last.redis])]) {
    if (!known.has(pid)) known.set(pid, { pid, startedAt: startOf(pid) });
  }
}
await end(last.programs, last.graceMs);
await end(last.redis === null ? [] : [last.redis], last.graceMs);

async function end(pids: readonly number[], graceMs: number): Promise<void> {
  const theirs = pids.flatMap((pid) => known.get(pid) ?? []).filter((process) => !isOther(process));
  for (const { pid } of theirs) signalTo(pid, 'SIGTERM');
  const until = performance.now() + graceMs;
  while (theirs.some(isThere) && performance.now() < until) await sleep(LOOK_EVERY_MS);
  // Also if the leader has ended: a packet process of it that stands still has not.
  for (const process of theirs) if (!isOther(process)) killGroup(process.pid);
}

function isThere({ pid, startedAt }: Known): boolean {
  return startOf(pid) === startedAt && signalTo(pid, 0);
}

/** The number belongs to a process that started later. */
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

/** Field 22 of proc(5) stat, in ticks since the boot; undefined where there is no such file. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie waits for its new parent alone.
    return state === 'Z' ? undefined : fields[18];
  } catch {
    return undefined;
  }
}
