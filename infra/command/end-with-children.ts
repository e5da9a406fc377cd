import { readdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * When the command ends, also by one of these signals, kills its descendants and removes its temporary files; SIGKILL
 * leaves both behind. Listeners of `exit` run too, which remove network namespaces.
 *
 * @param signals that end the command at once
 */
export function endWithChildren(signals: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP']): void {
  const folder = mkdtempSync(join(tmpdir(), 'vantage-command-'));
  process.env['TMPDIR'] = folder;
  process.once('exit', () => {
    for (const pid of descendants(process.pid)) kill(pid);
    // A process that was killed may still be writing.
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  });
  // Not `once`: without a listener a second signal would end the process before its files are removed.
  for (const signal of signals) process.on(signal, () => process.exit(128 + constants.signals[signal]));
}

/** Ids of all descendants of a process; none on a system without /proc. */
export function descendants(ancestor: number): readonly number[] {
  const parents = processes();
  const found = new Set([ancestor]);
  for (const pid of found) {
    for (const [child, parent] of parents) if (parent === pid) found.add(child);
  }
  found.delete(ancestor);
  return [...found];
}

/** Each process with its parent. */
function processes(): ReadonlyMap<number, number> {
  return new Map(pids().map((pid) => [pid, parentOf(pid)]));
}

function pids(): readonly number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** Field 4 of proc(5) stat; NaN if the process has ended. */
function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return Number.NaN;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended.
  }
}
