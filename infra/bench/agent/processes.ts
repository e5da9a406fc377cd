import { readdirSync, readFileSync } from 'node:fs';

import { cpuSeconds } from '../dns/process-cpu.ts';

/** A process and its descendants, such as the packet process of an agent. */
export function processTree(root: number): readonly number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const parent = /^\d+$/.test(name) ? parentOf(Number(name)) : undefined;
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const below = (pid: number): number[] => [pid, ...(children.get(pid) ?? []).flatMap(below)];
  return below(root);
}

function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    // The process has ended since the folder was read.
    return undefined;
  }
}

export function treeCpuMs(root: number): number {
  return processTree(root).reduce((sum, pid) => sum + cpuSeconds(pid) * 1_000, 0);
}

export interface Memory {
  readonly rssMiB: number;
  readonly pssMiB: number;
}

export function treeMemory(root: number): Memory {
  const each = processTree(root).map((pid) => readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'));
  const sum = (field: string): number =>
    each.reduce((total, text) => total + Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(text)![1]) / 1_024, 0);
  return { rssMiB: sum('Rss'), pssMiB: sum('Pss') };
}
