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

/** The entry of a process; empty if it has ended, or is a zombie, which only waits for its parent. */
function entriesOf(pid: number | string): readonly Entry[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state, parent, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? [] : [{ pid: Number(pid), parent: Number(parent), startedAt: fields[17]! }];
  } catch {
    return [];
  }
}

/** A process and its descendants. */
export function family(root: number): readonly Entry[] {
  const all = readdirSync('/proc').flatMap(entriesOf);
  const found = new Set([root]);
  for (let size = 0; size !== found.size;) {
    size = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  return all.filter(({ pid }) => found.has(pid));
}

/** The processes that a process has started itself and that have not ended. */
export function childrenOf(pid: number): readonly number[] {
  const listed = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean);
  return listed.flatMap(entriesOf).map((entry) => entry.pid);
}

/** Reads only these processes: this is polled, and a busy machine has hundreds of others. */
function stillThere(those: readonly Entry[]): readonly Entry[] {
  return those.filter(({ pid, startedAt }) => entriesOf(pid)[0]?.startedAt === startedAt);
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

/**
 * The body of a test after which no process may be left. Kills any that are.
 *
 * @param start starts processes on a data folder and adds them to `all`
 * @param act ends them in the way that is tested
 * @param assert runs when all of them have exited
 */
export function scenario<Started>(
  start: (all: Entry[], folder: string) => Promise<Started>,
  act: (started: Started, all: Entry[]) => unknown,
  assert: (started: Started) => unknown = () => undefined,
): () => Promise<void> {
  return async () => {
    const data = temporaryFolder();
    const all: Entry[] = [];
    try {
      const started = await start(all, `${data.folder}/data`);
      await act(started, all);
      await untilGone(all);
      await assert(started);
    } finally {
      killAll(stillThere(all));
      data.remove();
    }
  };
}

function killAll(those: readonly Entry[]): void {
  for (const { pid } of those) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // Expected: the process has exited.
    }
  }
}

/** Sends SIGINT, and again after the time in which signals count as one key press. */
export async function interruptTwice({ pid }: { readonly pid: number }): Promise<void> {
  process.kill(pid, 'SIGINT');
  await sleep(1_000);
  process.kill(pid, 'SIGINT');
}
