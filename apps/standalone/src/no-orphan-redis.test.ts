import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, it } from '@jest/globals';
import { findRedisServer, redisPidFile, startRedisServer } from '@vantage/redis-server';
import { Redis } from 'ioredis';
import { bundledProgram } from '@vantage/test-support/programs/bundled-program';

import { family, interruptTwice, scenario, type Entry } from '../test/family.ts';
import { startService, type Service } from '../test/service.ts';

const WAIT_LIMIT_MS = 240_000;
const main = bundledProgram('standalone');
const executable = findRedisServer(process.env['PATH']!)!;

/** At a millisecond per key a load takes 200 s, longer than the test. */
const KEYS = 200_000;
const FILL = `for i = 1, ${KEYS} do redis.call('SET', i, i) end`;

/** @returns PATH with a Redis that loads its data slowly, and often serves signals and clients meanwhile */
function slowRedis(folder: string): string {
  const bin = `${folder}-bin`;
  mkdirSync(bin);
  const slow = '--key-load-delay 1000 --loading-process-events-interval-bytes 1024';
  writeFileSync(`${bin}/redis-server`, `#!/bin/bash\nexec -a redis-server ${executable} "$@" ${slow}\n`);
  chmodSync(`${bin}/redis-server`, 0o755);
  return `${bin}:${process.env['PATH']}`;
}

/** Writes the keys to the file of a service that was never started. */
async function fill(folder: string): Promise<void> {
  mkdirSync(`${folder}/redis`, { recursive: true, mode: 0o700 });
  const server = await startRedisServer({ executable, dataFolder: `${folder}/redis` });
  const redis = new Redis(server.url);
  await redis.eval(FILL, 0);
  redis.disconnect();
  await server.stop();
}

/** Resolves with the process id of a Redis that loads its file, and is not the one that ran before. */
async function untilItLoads(folder: string, before?: number): Promise<number> {
  for (;;) {
    const pid = readPid(folder);
    if (pid !== undefined && pid !== before) return pid;
    await sleep(20);
  }
}

/** Redis writes its pid file before it loads its data. */
function readPid(folder: string): number | undefined {
  try {
    return Number(readFileSync(redisPidFile(`${folder}/redis`), 'utf8')) || undefined;
  } catch {
    return undefined;
  }
}

interface Start {
  readonly pid: number;
  readonly redis: number;
  readonly ended: Promise<number | null>;
  readonly printed: () => string;
}

/** Starts a service whose Redis does not become ready. */
async function startLoading(all: Entry[], folder: string): Promise<Start> {
  await fill(folder);
  const args = [main, '--port', '0', '--data', folder, '--probes', '1'];
  const env = { ...process.env, NODE_OPTIONS: '', SCREENSHOTS: 'off', PATH: slowRedis(folder) };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  const ended = once(child, 'exit').then(([status]) => status as number | null);
  const redis = await untilItLoads(folder);
  all.push(...family(child.pid!));
  expect(all.map(({ pid }) => pid)).toContain(redis);
  return { pid: child.pid!, redis, ended, printed: () => printed };
}

/** Starts a service whose Redis has crashed and loads its file again. */
async function startCrashed(all: Entry[], folder: string): Promise<Service> {
  const service = await startService(folder, ['--probes', '1'], { PATH: slowRedis(folder) });
  const { pid, port } = service.running().redis!;
  const password = readFileSync(`${folder}/redis/password`, 'utf8').trim();
  const redis = new Redis({ port, password, retryStrategy: () => null });
  await redis.eval(FILL, 0);
  // Waits until the keys are in the file; a Redis without `WAITAOF` gets two seconds.
  await redis.call('WAITAOF', 1, 0, 0).catch(() => sleep(2_000));
  redis.disconnect();
  process.kill(pid, 'SIGKILL');
  const loading = await untilItLoads(folder, pid);
  all.push(...family(service.pid));
  expect(all.map((entry) => entry.pid)).toContain(loading);
  return service;
}

// Concurrent: each scenario mostly waits.
describe('of a service that ends while Redis loads its file, nothing is left', () => {
  it.concurrent(
    'when it is killed',
    scenario(startLoading, ({ pid }) => process.kill(pid, 'SIGKILL')),
    WAIT_LIMIT_MS,
  );

  it.concurrent(
    'when it gets one signal, which it obeys before the file is loaded',
    scenario(
      startLoading,
      ({ pid }) => process.kill(pid, 'SIGTERM'),
      async ({ ended, printed }) => {
        expect(await ended).toBe(1);
        expect(printed()).toContain('Stopped before the start was complete');
      },
    ),
    WAIT_LIMIT_MS,
  );

  it.concurrent(
    'when it gets the signal twice and Redis stands still',
    scenario(
      startLoading,
      async (service) => {
        process.kill(service.redis, 'SIGSTOP');
        await interruptTwice(service);
      },
      async ({ ended }) => expect(await ended).toBe(1),
    ),
    WAIT_LIMIT_MS,
  );

  it.concurrent.each(['SIGKILL', 'SIGTERM'] as const)(
    'when it gets %s while Redis loads it after a crash',
    (signal) => scenario(startCrashed, ({ pid }) => process.kill(pid, signal))(),
    WAIT_LIMIT_MS,
  );
});
