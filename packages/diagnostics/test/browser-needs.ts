import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { chmod, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { findBrowser } from '../src/browser/process/find-browser.ts';

/** The browser of this machine, or why tests that need one cannot run. */
export function browserHere(path: string | undefined): {
  readonly executablePath: string;
  readonly missing: string | null;
} {
  const executablePath = findBrowser(path);
  const missing = executablePath === undefined ? 'there is no chromium-headless-shell and no chromium' : null;
  return { executablePath: executablePath ?? '', missing };
}

/** A folder for the folders of browsers, whoever they run as. */
export interface BrowserFolder {
  readonly path: string;
  /** Names of what is in it. */
  readonly contents: () => readonly string[];
  /** Begins to look for browsers all the time, so that `processes` knows also the groups whose first process is gone. */
  readonly watch: () => void;
  /** Pids of the groups of all browsers that were seen in it, zombies left out. */
  readonly processes: () => Promise<readonly number[]>;
  readonly remove: () => void;
}

const LOOK_EVERY_MS = 100;

export async function browserFolder(): Promise<BrowserFolder> {
  const path = mkdtempSync(join(tmpdir(), 'vantage-browser-test-'));
  await chmod(path, 0o711);
  // Only the first process of a browser has the path in its command line, and it may be the first to end.
  const groups = new Set<string>();
  const look = async (): Promise<readonly number[]> => {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const all = await Promise.all(
      pids.map(async (pid) => {
        const line = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '');
        const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
        const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        if (group !== undefined && line.includes(`--user-data-dir=${path}`)) groups.add(group);
        return { pid: Number(pid), isAlive: state !== 'Z', group: group ?? '' };
      }),
    );
    return all.filter(({ isAlive, group }) => isAlive && groups.has(group)).map(({ pid }) => pid);
  };
  let timer: NodeJS.Timeout | undefined;
  return {
    path,
    contents: () => readdirSync(path),
    watch: () => {
      timer ??= setInterval(() => void look(), LOOK_EVERY_MS).unref();
    },
    processes: look,
    remove: () => {
      clearInterval(timer);
      rmSync(path, { recursive: true, force: true });
    },
  };
}
