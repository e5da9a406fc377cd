import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { temporaryFolder } from './service.ts';

const GONE_WITHIN_MS = 120_000;

export interface Entry {
  readonly pid: number;
  /** Clock ticks since boot; distinguishes reuses of a process id. */
  readonly startedAt: string;
  readonly parent: number;
}

/** All processes except zombies, which wait for their parents. */
export function processes(): readonly Entry[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      const [state, parent, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return state === 'Z' ? [] : [{ pid: Number(pid), parent: Number(parent), startedAt: fields[17]! }];
    } catch {
      return [];
    }
  });
}

/** A process and its descendants. */
export function family(root: number): readonly Entry[] {
  const all = processes();
  const found = new Set([root]);
  for (let size = 0; size !== found.size;) {
    size = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  return all.filter(({ pid }) => found.has(pid));
}

function stillThere(those: readonly Entry[]): readonly Entry[] {
  const now = processes();
  return those.filter(({ pid, startedAt }) => now.some((one) => one.pid === pid && one.startedAt === startedAt));
}

/**
 * Resolves when all these processes have exited.
 *
 * @throws Error that names those that remain after two minutes
 */
export async function untilGone(those: readonly Entry[]): Promise<void> {
  const until = performance.now() + GONE_WITHIN_MS;
  while (stillThere(those).length > 0) {
    if (performance.now() > until) throw new Error(`still there:\n${stillThere(those).map(describeEntry).join('\n')}`);
    await sleep(50);
  }
}

function describeEntry({ pid, parent }: Entry): string {
  const line = (name: string): string => readFileSync(`/proc/${pid}/${name}`, 'utf8').replaceAll('\0', ' ');
  return `${pid} (child of ${parent}): ${line('stat').slice(0, 40)} ${line('cmdline')}`;
}

/** Runs a scenario and kills any process that it leaves behind. */
export async function withFamily(scenario: (all: Entry[], folder: string) => Promise<void>): Promise<void> {
  const data = temporaryFolder();
  const all: Entry[] = [];
  try {
    await scenario(all, `${data.folder}/data`);
  } finally {
    for (const { pid } of stillThere(all)) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // Expected: the process has exited.
      }
    }
    data.remove();
  }
}
