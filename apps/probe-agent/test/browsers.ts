import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder for the profiles of an agent's browsers, by which their processes are found. */
export interface BrowserFolder {
  readonly path: string;
  readonly contents: () => readonly string[];
  /** Ids of the processes, without zombies, of the browsers that were seen to use the folder. */
  readonly processes: () => Promise<readonly number[]>;
  readonly remove: () => void;
}

export function browserFolder(): BrowserFolder {
  const path = mkdtempSync(join(tmpdir(), 'vantage-agent-browsers-'));
  // An agent that runs as root starts browsers as another user, who must be able to traverse the folder.
  chmodSync(path, 0o711);
  /**
   * Process groups in which a process had the folder in its command line: the others of a group lack it, and may
   * outlive that process.
   */
  const groups = new Set<string>();
  // No browser of the folder is older than it. A pid that vanishes is forgotten, because a new process may get it.
  let older = new Set(readdirSync('/proc'));
  return {
    path,
    contents: () => readdirSync(path),
    processes: async () => {
      const listed = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
      // Reads only the files of processes that may be new: this is polled, and reading all of them costs CPU time.
      const pids = listed.filter((pid) => !older.has(pid));
      older = new Set(listed.filter((pid) => older.has(pid)));
      const all = await Promise.all(
        pids.map(async (pid) => {
          const line = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '');
          const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
          // proc(5): pid (name) state ppid pgrp …
          const [state, , group = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
          if (line.includes(`--user-data-dir=${path}`)) groups.add(group);
          return { pid: Number(pid), isAlive: state !== 'Z', group };
        }),
      );
      return all.filter(({ isAlive, group }) => isAlive && groups.has(group)).map(({ pid }) => pid);
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}
