import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

import { pickAgent, pickCoordinator, type Fault, type Scene } from './fault.ts';

/** Limit of descriptors, fewer than an agent or a coordinator has open. */
const TOO_FEW = 10;
/**
 * Duration of the fault at its full scale, longer than an agent caches its own addresses (5 s), and than two
 * heartbeats.
 */
const LASTS_MS = 12_000;

/** Processes that can open nothing more: no connection, no file. */
export const descriptors: readonly Fault[] = [
  {
    name: 'an agent has no file descriptor left',
    impossible: withoutPrlimit,
    inject: (scene) => withoutDescriptors(scene, pickAgent(scene).part.pid()),
  },
  {
    name: 'a coordinator has no file descriptor left',
    impossible: withoutPrlimit,
    inject: (scene) => {
      scene.harm('probes');
      return withoutDescriptors(scene, pickCoordinator(scene).part.pid());
    },
  },
];

async function withoutDescriptors({ scale, unended }: Scene, pid: number | undefined): Promise<void> {
  if (pid === undefined) return;
  let before: string;
  try {
    before = prlimit(pid, '--output=SOFT', '--noheadings', '--raw').trim();
    prlimit(pid, `--nofile=${TOO_FEW}:`);
  } catch {
    // The process has ended meanwhile.
    return;
  }
  await sleep(LASTS_MS * scale);
  try {
    prlimit(pid, `--nofile=${before}:`);
  } catch {
    unended(`Process ${pid} ended without file descriptors.`);
  }
}

function prlimit(pid: number, ...words: readonly string[]): string {
  const what = words.some((word) => word.startsWith('--nofile')) ? words : ['--nofile', ...words];
  return execFileSync('prlimit', [`--pid=${pid}`, ...what], { encoding: 'utf8', stdio: 'pipe' });
}

function withoutPrlimit(): string | undefined {
  try {
    execFileSync('prlimit', ['--version'], { stdio: 'pipe' });
    return undefined;
  } catch {
    return 'there is no prlimit (util-linux)';
  }
}
