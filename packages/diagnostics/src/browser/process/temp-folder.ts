import { readFileSync } from 'node:fs';
import { chown, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

const PREFIX = 'vantage-shot-';

/** Identifies a process although a later one may have the same pid, as after the restart of a container. */
export interface Owner {
  readonly pid: number;
  /** Start time of the process, in clock ticks after the boot of the machine (proc(5), field 22). */
  readonly startTicks: string;
}

export function thisProcess(): Owner {
  return { pid: process.pid, startTicks: startTicksOf(readFileSync('/proc/self/stat', 'latin1')) };
}

/** Creates the folder of a browser, readable by its user only (`mkdtemp` uses mode 0700). */
export async function makeTempFolder(
  parent: string,
  { pid, startTicks }: Owner,
  identity: { readonly uid?: number | undefined; readonly gid?: number | undefined },
): Promise<string> {
  const folder = await mkdtemp(join(parent, `${PREFIX}${pid}-${startTicks}-`));
  if (identity.uid !== undefined) await chown(folder, identity.uid, identity.gid ?? identity.uid);
  return folder;
}

/** Further attempts to remove the folder, if a program still writes to it. */
const RETRIES = { maxRetries: 12, retryDelay: 50 } as const;

export function removeTempFolder(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true, ...RETRIES });
}

/** Removes the folders of processes that no longer exist. */
export async function removeOrphans(parent: string): Promise<void> {
  const names = (await readdir(parent).catch(() => [])).filter((name) => name.startsWith(PREFIX));
  for (const name of names) {
    const [pid, startTicks] = name.slice(PREFIX.length).split('-');
    if (!/^\d+$/.test(pid ?? '')) continue;
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined);
    if (stat === undefined || startTicksOf(stat) !== startTicks) await removeTempFolder(join(parent, name));
  }
}

function startTicksOf(stat: string): string {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}
