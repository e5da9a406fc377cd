import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

import { errorText } from '../error-text.ts';

/** Processes of one browser, found by their process group. Linux only. */
export interface ProcessGroup {
  readonly members: () => Promise<readonly number[]>;
  /** Resident memory of all members without mapped files, bytes. */
  readonly residentBytes: () => Promise<number>;
  /**
   * Sends SIGKILL to every member. Resolves when none is left.
   *
   * @throws Error if some are left after five seconds
   */
  readonly kill: () => Promise<void>;
}

const GONE_WITHIN_MS = 5_000;
const LOOK_EVERY_MS = 5;
/** After a stall of this process, elapsed time alone is not conclusive. */
const LOOKS_AT_LEAST = 100;

/** @param leader pid of the first process, which was started as the leader of a separate group */
export function processGroup(leader: number): ProcessGroup {
  // Pids of other processes. One that vanishes is forgotten, so that a new process with its number is examined.
  let strangers = new Set<string>();

  const members = async (): Promise<readonly number[]> => {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const groups = await Promise.all(pids.map(async (pid) => (strangers.has(pid) ? undefined : groupOf(pid))));
    strangers = new Set(pids.filter((_, index) => groups[index] !== leader && groups[index] !== null));
    return pids.filter((_, index) => groups[index] === leader).map(Number);
  };
  const residentBytes = async (): Promise<number> => {
    const sizes = await Promise.all((await members()).map(async (pid) => residentOf(await readStatus(pid))));
    return sizes.reduce((sum, size) => sum + size, 0);
  };
  const kill = async (): Promise<void> => {
    const until = performance.now() + GONE_WITHIN_MS;
    for (let looks = 1; killGroup(leader) && (await members()).length > 0; looks += 1) {
      if (performance.now() > until && looks >= LOOKS_AT_LEAST)
        throw new Error(`Processes of group ${leader} outlive SIGKILL.`);
      await sleep(LOOK_EVERY_MS);
    }
  };
  return { members, residentBytes, kill };
}

/** The text of `/proc/<pid>/status`; empty if the process has ended. */
export function readStatus(pid: number): Promise<string> {
  return readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
}

/** A field of `/proc/<pid>/status`. */
export function statusField(status: string, name: string): string | undefined {
  return new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1];
}

/** proc(5): pid (name) state ppid pgrp …; the name may contain spaces and brackets. Null if the process has ended. */
async function groupOf(pid: string): Promise<number | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => null);
  if (stat === null) return null;
  const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // A zombie holds no resources, and only its parent can reap it.
  return state === 'Z' ? null : Number(group);
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
