import { accessSync, constants, existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { descendantsOf } from '../processes.ts';
import { anyCoordinator, childrenOf, pickAgent, type Fault } from './fault.ts';

type Controller = 'pids' | 'memory';

/** Control groups of version 1, which a process joins without leaving those of other controllers. */
const ROOT = '/sys/fs/cgroup';
const LASTS_MS = 8_000;
const EXITS_WITHIN_MS = 1_000;
/** Memory that an agent with its processes may take in addition: less than a few checks need. */
const MEMORY_BYTES = 512 * 1_024;

/** Kernel limits on an agent and its processes, like those of a container. */
export const controlGroups: readonly Fault[] = [
  {
    name: 'an agent may start no process or thread',
    impossible: () => unwritable('pids'),
    inject: async (scene) => {
      const agent = pickAgent(scene);
      const group = enter('pids', agent.part.pid());
      if (group === undefined) return;
      group.set('pids.max', '1');
      for (const pid of childrenOf(agent, /packet-process/)) kill(pid);
      await sleep(LASTS_MS * scene.scale);
      await group.leave();
    },
  },
  {
    name: 'the kernel kills a process of an agent for want of memory',
    impossible: () => unwritable('memory'),
    inject: async (scene) => {
      const agent = pickAgent(scene);
      const group = enter('memory', agent.part.pid());
      if (group === undefined) return;
      group.set('memory.limit_in_bytes', String(MEMORY_BYTES));
      const endsAt = performance.now() + LASTS_MS * scene.scale;
      while (!group.hasKilled() && performance.now() < endsAt) await scene.observer.burst(anyCoordinator(scene), 2);
      await group.leave();
      // After this time a process that was killed has exited, and this process has received its exit.
      await sleep(EXITS_WITHIN_MS);
      if (agent.part.pid() !== undefined) return;
      // If the kernel killed the agent itself, it is started again, as by its supervisor.
      agent.part.start();
      await agent.part.started();
    },
  },
];

interface Group {
  readonly set: (file: string, value: string) => void;
  readonly hasKilled: () => boolean;
  /** Moves the processes of the group back to their former group, and removes this one. */
  readonly leave: () => Promise<void>;
}

/** @returns undefined if the process has ended */
function enter(controller: Controller, pid: number | undefined): Group | undefined {
  if (pid === undefined) return undefined;
  const before = join(ROOT, controller, groupOf(pid, controller));
  const folder = join(ROOT, controller, `vantage-chaos-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  for (const one of [pid, ...descendantsOf(pid).map((child) => child.pid)]) move(one, folder);
  return {
    set: (file, value) => writeFileSync(join(folder, file), value),
    hasKilled: () => /^oom_kill [1-9]/m.test(readFileSync(join(folder, 'memory.oom_control'), 'utf8')),
    leave: async () => {
      writeFileSync(join(folder, controller === 'pids' ? 'pids.max' : 'memory.limit_in_bytes'), unbounded[controller]);
      // Killed processes stay in the group until they have exited.
      for (let left = members(folder); left.length > 0; left = members(folder)) {
        for (const one of left) move(one, before);
        await sleep(20);
      }
      rmdirSync(folder);
    },
  };
}

const unbounded: Readonly<Record<Controller, string>> = { pids: 'max', memory: '-1' };

function groupOf(pid: number, controller: Controller): string {
  const lines = readFileSync(`/proc/${pid}/cgroup`, 'utf8').split('\n');
  return lines.map((line) => line.split(':')).find(([, name]) => name === controller)?.[2] ?? '/';
}

function members(folder: string): readonly number[] {
  return readFileSync(join(folder, 'cgroup.procs'), 'utf8')
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [Number(line)]));
}

function move(pid: number, folder: string): void {
  try {
    writeFileSync(join(folder, 'cgroup.procs'), String(pid));
  } catch {
    // The process has exited.
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has exited.
  }
}

function unwritable(controller: Controller): string | undefined {
  const folder = join(ROOT, controller);
  try {
    accessSync(folder, constants.W_OK);
    return existsSync(join(folder, 'cgroup.procs')) ? undefined : `${folder} is no control group`;
  } catch {
    return `no control group of version 1 can be made in ${folder}`;
  }
}
