import { readdir, readFile } from 'node:fs/promises';

interface Running {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
}

/** Processes of a browser are called so; the kernel keeps 15 characters of a name. */
const BROWSER = /^(chrom|headless_shell)/;

/** Resident memory of the browsers among what a process has started, bytes; shared pages are counted by share where the kernel tells. */
export async function browserMemoryBytes(agentPid: number): Promise<number> {
  const entries = await readdir('/proc').catch(() => []);
  const all = await Promise.all(entries.filter((entry) => /^\d+$/.test(entry)).map(read));
  const running = all.filter((one) => one !== undefined);
  const below = descendants(agentPid, running).filter(({ name }) => BROWSER.test(name));
  const sizes = await Promise.all(below.map(({ pid }) => memoryOf(pid)));
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}

/** A process that ends meanwhile is none. */
async function read(entry: string): Promise<Running | undefined> {
  const stat = await readFile(`/proc/${entry}/stat`, 'utf8').catch(() => '');
  // The name is in brackets and may hold brackets itself (proc_pid_stat(5)).
  const [, pid, name, parent] = /^(\d+) \((.*)\) \S (\d+)/s.exec(stat) ?? [];
  if (pid === undefined || name === undefined || parent === undefined) return undefined;
  return { pid: Number(pid), parent: Number(parent), name };
}

function descendants(root: number, running: readonly Running[]): readonly Running[] {
  const children = running.filter(({ parent }) => parent === root);
  return children.flatMap((child) => [child, ...descendants(child.pid, running)]);
}

/** The browser runs as another user, whose smaps an agent without privilege may not read: then the resident set. */
async function memoryOf(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
  const kib = /^Pss:\s+(\d+) kB/m.exec(rollup)?.[1];
  if (kib !== undefined) return Number(kib) * 1_024;
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1_024;
}
