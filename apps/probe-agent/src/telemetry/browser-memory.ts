import { readdir, readFile } from 'node:fs/promises';

interface Running {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
}

/** Process names of browsers; the kernel truncates names to 15 characters. */
const BROWSER = /^(chrom|headless_shell)/;

/**
 * Memory of the browsers among a process's descendants, bytes: the proportional set size if readable, else the resident
 * set size.
 */
export async function browserMemoryBytes(agentPid: number): Promise<number> {
  const entries = await readdir('/proc').catch(() => []);
  const all = await Promise.all(entries.filter((entry) => /^\d+$/.test(entry)).map(read));
  const running = all.filter((one) => one !== undefined);
  const below = descendants(agentPid, running).filter(({ name }) => BROWSER.test(name));
  const sizes = await Promise.all(below.map(({ pid }) => memoryOf(pid)));
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}

/** Undefined for a process that has exited meanwhile. */
async function read(entry: string): Promise<Running | undefined> {
  const stat = await readFile(`/proc/${entry}/stat`, 'utf8').catch(() => '');
  // The name is in parentheses and may contain parentheses (proc_pid_stat(5)).
  const [, pid, name, parent] = /^(\d+) \((.*)\) \S (\d+)/s.exec(stat) ?? [];
  if (pid === undefined || name === undefined || parent === undefined) return undefined;
  return { pid: Number(pid), parent: Number(parent), name };
}

function descendants(root: number, running: readonly Running[]): readonly Running[] {
  const children = running.filter(({ parent }) => parent === root);
  return children.flatMap((child) => [child, ...descendants(child.pid, running)]);
}

/**
 * Bytes of a process's proportional set; of its resident set if `smaps_rollup` is unreadable, as for another user's
 * browser without privileges; 0 if the process has exited.
 */
async function memoryOf(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
  const kib = /^Pss:\s+(\d+) kB/m.exec(rollup)?.[1];
  if (kib !== undefined) return Number(kib) * 1_024;
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1_024;
}
