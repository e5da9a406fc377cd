import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterEach, describe, expect, it } from '@jest/globals';

import { startService, temporaryFolder, type Service } from '../test/service.ts';
import type { Running } from './data-folder.ts';

const PATIENCE_MS = 240_000;
const flags = ['--probes', '1'];

interface Entry {
  readonly pid: number;
  /** Clock ticks since boot; distinguishes reuses of a process id. */
  readonly startedAt: string;
  readonly parent: number;
}

/** All processes except zombies, which wait for their parents. */
function processes(): readonly Entry[] {
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
function family(root: number): readonly Entry[] {
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

/** Resolves when all of them have exited. */
async function untilGone(those: readonly Entry[]): Promise<void> {
  while (stillThere(those).length > 0) await sleep(50);
}

describe('of a service that ends, nothing is left', () => {
  const data = temporaryFolder();
  let all: readonly Entry[] = [];

  afterEach(() => {
    for (const { pid } of stillThere(all)) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // Expected: the process has exited.
      }
    }
    data.remove();
  });

  async function start(): Promise<Service> {
    const service = await startService(`${data.folder}/data`, flags);
    all = family(service.pid);
    const { redis, processes: programs } = service.running();
    // Supervisor, reaper, Redis, coordinator, probe, and the packet process if raw sockets are available.
    expect(all.map(({ pid }) => pid)).toEqual(expect.arrayContaining([redis!.pid, ...Object.values(programs)]));
    expect(all.length).toBeGreaterThanOrEqual(5);
    return service;
  }

  /** Stops the coordinator and the agent's children with SIGSTOP, so that they cannot react. */
  function stopAll({ running }: Service): void {
    const { coordinator = 0, 'demo-1': agent = 0 } = running().processes;
    for (const { pid } of [...family(coordinator), ...family(agent)]) process.kill(pid, 'SIGSTOP');
  }

  it(
    'when it is killed',
    async () => {
      const service = await start();

      process.kill(service.pid, 'SIGKILL');

      await untilGone(all);
    },
    PATIENCE_MS,
  );

  it(
    'when it is killed while it stands still itself',
    async () => {
      const service = await start();

      process.kill(service.pid, 'SIGSTOP');
      process.kill(service.pid, 'SIGKILL');

      await untilGone(all);
    },
    PATIENCE_MS,
  );

  it(
    'when it is stopped while its programs stand still',
    async () => {
      const service = await start();
      stopAll(service);

      process.kill(service.pid, 'SIGTERM');

      await untilGone(all);
      expect(await service.ended).toBe(0);
    },
    PATIENCE_MS,
  );

  it(
    'when it is told twice, at once',
    async () => {
      const service = await start();
      stopAll(service);

      process.kill(service.pid, 'SIGINT');
      // Outside of the window in which signals count as one key press.
      await sleep(1_000);
      process.kill(service.pid, 'SIGINT');

      await untilGone(all);
      expect(await service.ended).toBe(1);
    },
    PATIENCE_MS,
  );

  it(
    'when it is killed while its programs stand still, and its reaper was killed before',
    async () => {
      const service = await start();
      const { redis, processes: programs } = service.running();
      const known = new Set([redis!.pid, ...Object.values(programs)]);
      const reapers = (): readonly number[] =>
        processes().flatMap(({ pid, parent }) => (parent === service.pid && !known.has(pid) ? [pid] : []));
      const [first = 0] = reapers();
      process.kill(first, 'SIGKILL');
      while (reapers().length === 0 || reapers().includes(first)) await sleep(50);
      all = family(service.pid);
      stopAll(service);

      process.kill(service.pid, 'SIGKILL');

      await untilGone(all);
    },
    PATIENCE_MS,
  );

  it.each(['SIGKILL', 'SIGTERM'] as const)(
    'when npm is ended by %s',
    async (signal) => {
      const npm = spawn('npm', ['start', '--', '--port', '0', '--data', `${data.folder}/data`, ...flags], {
        cwd: fileURLToPath(new URL('../../..', import.meta.url)),
        env: { ...process.env, NODE_OPTIONS: '', SCREENSHOTS: 'off' },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      });
      let printed = '';
      const ended = once(npm, 'exit');
      await new Promise<void>((resolve, reject) => {
        npm.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()));
        npm.stdout.on('data', (chunk: Buffer) => {
          printed += chunk.toString();
          if (printed.includes('results?wait=25')) resolve();
        });
        void ended.then(() => reject(new Error(`ended:\n${printed}`)));
      });
      all = family(npm.pid!);
      const running = JSON.parse(readFileSync(`${data.folder}/data/running.json`, 'utf8')) as Running;
      expect(all.map(({ pid }) => pid)).toEqual(expect.arrayContaining([running.pid, running.redis!.pid]));

      process.kill(npm.pid!, signal);

      await untilGone(all);
    },
    PATIENCE_MS,
  );
});
