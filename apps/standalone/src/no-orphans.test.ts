import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, it } from '@jest/globals';

import { childrenOf, family, interruptTwice, scenario, type Entry } from '../test/family.ts';
import { startService, type Service } from '../test/service.ts';
import type { Running } from './data-folder.ts';

const WAIT_LIMIT_MS = 240_000;
const flags = ['--probes', '1'];

async function start(all: Entry[], folder: string): Promise<Service> {
  const service = await startService(folder, flags);
  all.push(...family(service.pid));
  const { redis, processes: programs } = service.running();
  // Supervisor, reaper, Redis, coordinator, probe, and the packet process if raw sockets are available.
  expect(all.map(({ pid }) => pid)).toEqual(expect.arrayContaining([redis!.pid, ...Object.values(programs)]));
  expect(all.length).toBeGreaterThanOrEqual(5);
  return service;
}

/** Suspends the coordinator, the agent and all their descendants with SIGSTOP, so that they cannot react. */
function stopAll({ running }: Service): void {
  const { coordinator = 0, 'demo-1': agent = 0 } = running().processes;
  for (const { pid } of [...family(coordinator), ...family(agent)]) process.kill(pid, 'SIGSTOP');
}

/** Kills the first reaper and waits for its replacement. */
async function killReaper(service: Service): Promise<void> {
  const { redis, processes: programs } = service.running();
  const known = new Set([redis!.pid, ...Object.values(programs)]);
  const reapers = (): readonly number[] => childrenOf(service.pid).filter((pid) => !known.has(pid));
  const [first = 0] = reapers();
  process.kill(first, 'SIGKILL');
  // The service starts another one after a second. Polls without a pause, to act as soon as the replacement exists.
  await sleep(500);
  while (!reapers().some((pid) => pid !== first)) await setImmediate();
}

/** Resolves with the process id of npm once the service runs. */
async function startByNpm(all: Entry[], folder: string): Promise<number> {
  const npm = spawn('npm', ['start', '--', '--port', '0', '--data', folder, ...flags], {
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
  all.push(...family(npm.pid!));
  const running = JSON.parse(readFileSync(`${folder}/running.json`, 'utf8')) as Running;
  expect(all.map(({ pid }) => pid)).toEqual(expect.arrayContaining([running.pid, running.redis!.pid]));
  return npm.pid!;
}

// Concurrent: each scenario mostly waits for a grace period.
describe('of a service that ends, nothing is left', () => {
  it.concurrent(
    'when it is killed',
    scenario(start, ({ pid }) => process.kill(pid, 'SIGKILL')),
    WAIT_LIMIT_MS,
  );

  it.concurrent(
    'when it is killed while it stands still itself',
    scenario(start, ({ pid }) => {
      process.kill(pid, 'SIGSTOP');
      process.kill(pid, 'SIGKILL');
    }),
    WAIT_LIMIT_MS,
  );

  it.concurrent(
    'when it is stopped while its programs stand still',
    scenario(
      start,
      (service) => {
        stopAll(service);
        process.kill(service.pid, 'SIGTERM');
      },
      async ({ ended }) => expect(await ended).toBe(0),
    ),
    WAIT_LIMIT_MS,
  );

  it.concurrent(
    'when it gets the signal twice, at once',
    scenario(
      start,
      async (service) => {
        stopAll(service);
        await interruptTwice(service);
      },
      async ({ ended }) => expect(await ended).toBe(1),
    ),
    WAIT_LIMIT_MS,
  );

  it.concurrent(
    'when it is killed while its programs stand still, and its reaper was killed before',
    scenario(start, async (service, all) => {
      await killReaper(service);
      all.splice(0, all.length, ...family(service.pid));
      stopAll(service);
      process.kill(service.pid, 'SIGKILL');
    }),
    WAIT_LIMIT_MS,
  );

  it.concurrent(
    'when it is killed at the moment at which its reaper is replaced',
    scenario(start, async (service) => {
      await killReaper(service);
      process.kill(service.pid, 'SIGKILL');
    }),
    WAIT_LIMIT_MS,
  );

  it.concurrent.each(['SIGKILL', 'SIGTERM'] as const)(
    'when npm is ended by %s',
    (signal) => scenario(startByNpm, (npm) => process.kill(npm, signal))(),
    WAIT_LIMIT_MS,
  );
});
