import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { findBrowser } from '@vantage/diagnostics';

/** The browser of this machine, or why tests that need one cannot run. */
export function browserHere(path: string | undefined): {
  readonly executablePath: string;
  readonly missing: string | null;
} {
  const executablePath = findBrowser(path);
  const missing = executablePath === undefined ? 'there is no chromium-headless-shell and no chromium' : null;
  return { executablePath: executablePath ?? '', missing };
}

/** A folder in which browsers have their profiles, and which any user can traverse. */
export interface BrowserFolder {
  readonly path: string;
  /** Names of the folder's entries. */
  readonly contents: () => readonly string[];
  /** Starts to poll for browsers, so that `processes` also knows groups whose leader has exited. */
  readonly watch: () => void;
  /** Pids of all processes, except zombies, of the browsers that this process was seen to start in the folder. */
  readonly processes: () => Promise<readonly number[]>;
  readonly remove: () => void;
}

const POLL_INTERVAL_MS = 100;

export async function browserFolder(): Promise<BrowserFolder> {
  const path = mkdtempSync(join(tmpdir(), 'vantage-browser-test-'));
  await chmod(path, 0o711);
  // Only the first process of a browser has the path in its command line, and it may be the first to end.
  const groups = new Set<number>();
  const findGroups = (): void => {
    for (const pid of childrenOf(process.pid)) {
      if (read(`/proc/${pid}/cmdline`).includes(`--user-data-dir=${path}`)) groups.add(pid);
    }
  };
  let timer: NodeJS.Timeout | undefined;
  return {
    path,
    contents: () => readdirSync(path),
    watch: () => {
      timer ??= setInterval(findGroups, POLL_INTERVAL_MS).unref();
    },
    processes: async () => {
      findGroups();
      return membersOf(groups);
    },
    remove: () => {
      clearInterval(timer);
      rmSync(path, { recursive: true, force: true });
    },
  };
}

/**
 * Pids of the child processes. One that a launcher started leads the process group of its browser, because the
 * launcher's `exec` keeps the pid.
 */
function childrenOf(pid: number): readonly number[] {
  return read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
}

/**
 * Processes of the groups, without zombies. A line of proc(5) is: pid (name) state ppid pgrp …; the name may contain
 * spaces and brackets.
 */
function membersOf(groups: ReadonlySet<number>): readonly number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    const stat = read(`/proc/${pid}/stat`);
    const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state !== 'Z' && groups.has(Number(group));
  });
}

/** Content of a file in /proc; empty if the process has exited. */
function read(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
