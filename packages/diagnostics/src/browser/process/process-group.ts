import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

import { errorText } from '../error-text.ts';

/** Processes of one browser, found by their process group. Linux only. */
export interface ProcessGroup {
  readonly members: () => Promise<readonly number[]>;
  /** Resident memory of all members without mapped files, bytes. */
  readonly residentBytes: () => Promise<number>;
  /**
   * Sends SIGKILL to every member. Resolves when none is left.
   *
   * @throws Error if some cannot be killed, or are left after about ten seconds
   */
  readonly kill: () => Promise<void>;
}

const POLL_INTERVAL_MS = 5;
const FREQUENT_POLLS = 50;
const LATER_EVERY_MS = 100;
/**
 * Number of polls in about ten seconds, or in more on a busy machine, where killed processes wait for CPU time too:
 * they run at a low priority. Polls are counted, because elapsed time alone is not conclusive after a stall of this
 * process.
 */
const MOST_POLLS = FREQUENT_POLLS + 100;
/** Files of `/proc` read between two turns of the event loop; to read them takes about a millisecond. */
const READS_PER_TURN = 64;

/** @param leader pid of the first process, which was started as the leader of a separate group */
export function processGroup(leader: number): ProcessGroup {
  // Pids of processes outside the group. A pid that vanishes is forgotten, so that a new process with the same pid is
  // examined.
  let strangers = new Set<string>();

  const members = async (): Promise<readonly number[]> => {
    const others = new Set<string>();
    const own: number[] = [];
    let reads = 0;
    for (const pid of await readdir('/proc')) {
      if (!/^\d+$/.test(pid)) continue;
      if (strangers.has(pid)) {
        others.add(pid);
        continue;
      }
      const group = groupOf(pid);
      if (group === leader) own.push(Number(pid));
      else if (group !== null) others.add(pid);
      reads += 1;
      if (reads % READS_PER_TURN === 0) await nextTurn();
    }
    strangers = others;
    return own;
  };
  const residentBytes = async (): Promise<number> => {
    const all = await members();
    return all.reduce((sum, pid) => sum + residentOf(readStatus(pid)), 0);
  };
  const kill = async (): Promise<void> => {
    for (let polls = 1; killGroup(leader) && (await members()).length > 0; polls += 1) {
      if (polls >= MOST_POLLS) throw new Error(`Processes of group ${leader} outlive SIGKILL.`);
      await sleep(polls < FREQUENT_POLLS ? POLL_INTERVAL_MS : LATER_EVERY_MS);
    }
  };
  return { members, residentBytes, kill };
}

/** The text of `/proc/<pid>/status`; empty if it cannot be read, as after the end of the process. */
export function readStatus(pid: number): string {
  return readProcess(pid, 'status') ?? '';
}

/** The value of a field in the text of `/proc/<pid>/status`; undefined if it is absent. */
export function statusField(status: string, name: string): string | undefined {
  return new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1];
}

/**
 * The process group of a process; null if it has ended or is a zombie. proc(5): pid (name) state ppid pgrp …; the name
 * may contain spaces and brackets.
 */
function groupOf(pid: string): number | null {
  const stat = readProcess(pid, 'stat');
  if (stat === undefined) return null;
  const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // A zombie holds no resources, and only its parent can reap it.
  return state === 'Z' ? null : Number(group);
}

/**
 * Text of a file in `/proc/<pid>`; undefined if it cannot be read, as after the end of the process. Synchronous,
 * because an asynchronous read takes four tasks of the thread pool and a buffer of 64 KiB.
 */
function readProcess(pid: number | string, file: 'stat' | 'status'): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}

function residentOf(status: string): number {
  const kibibytes = (name: string): number => Number.parseInt(statusField(status, name) ?? '0', 10);
  return (kibibytes('RssAnon') + kibibytes('RssShmem')) * 1024;
}

/** @returns false when the group has no member, not even a zombie */
function killGroup(leader: number): boolean {
  try {
    process.kill(-leader, 'SIGKILL');
    return true;
  } catch (error) {
    if (Error.isError(error) && 'code' in error && error.code === 'ESRCH') return false;
    throw new Error(`The browser cannot be ended: ${errorText(error)}`, { cause: error });
  }
}
