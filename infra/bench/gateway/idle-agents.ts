import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import type { RedisServer } from '@vantage/redis-server';

import { recordProbes, untilProbesAreUp } from '../../trial-probes.ts';
import type { Figure } from '../goals.ts';
import { countCpu, end, startWorker } from '../load/processes.ts';
import { commandsByName, redisInfo } from '../load/redis-info.ts';
import { startCoordinator } from './service.ts';

const AGENTS = new URL('agents-worker.ts', import.meta.url);
const AGENTS_COUNT = 5_000;
const QUICK_COUNT = 500;
/** Wait before the measurement, so that the work of connecting is over. */
const SETTLE_MS = 15_000;
const NAMED = 8;
/** Unit of the sizes in `/proc/<pid>/statm` (proc(5)): a page, whose usual size this is. */
const PAGE_BYTES = 4_096;

/** Costs of idle agents for one coordinator with its gateway, and for Redis. */
export async function idleAgents(redis: RedisServer, quick: boolean): Promise<readonly Figure[]> {
  const count = quick ? QUICK_COUNT : AGENTS_COUNT;
  const ids = Array.from({ length: count }, (_, index) => `sim-${index}`);
  await recordProbes(redis.url, ids);
  const { url, child, stop } = await startCoordinator(redis);
  let agents: Awaited<ReturnType<typeof startWorker>> | undefined;
  try {
    const withoutMiB = residentMiB(child.pid!);
    const startedMs = performance.now();
    agents = await startWorker(AGENTS, [redis.url, url, String(count)]);
    const connectedMs = performance.now() - startedMs;
    await untilProbesAreUp(url, count);
    await sleep(SETTLE_MS);
    const idle = await measure(redis.port, { redis: [redis.pid], gateway: [child.pid!] }, quick ? 10 : 30);
    return figures(count, { ...idle, connectedMs, memoryMiB: residentMiB(child.pid!), withoutMiB });
  } finally {
    if (agents !== undefined) await end(agents.child);
    await stop();
  }
}

interface Measured {
  readonly commands: number;
  readonly names: string;
  readonly redis: number;
  readonly gateway: number;
  readonly connectedMs: number;
  readonly memoryMiB: number;
  /** Resident memory before any agent was connected. */
  readonly withoutMiB: number;
}

function figures(count: number, measured: Measured): readonly Figure[] {
  const name = (what: string): string => `${count} idle agents at one gateway: ${what}`;
  const { commands, names, redis, connectedMs, memoryMiB, withoutMiB } = measured;
  return [
    { name: name('time to enrol and connect'), value: connectedMs / 1_000, unit: 's' },
    { name: name('CPU of the coordinator with its gateway'), value: measured.gateway, unit: '% of a core', atMost: 25 },
    {
      name: name('memory that they take'),
      value: memoryMiB - withoutMiB,
      unit: 'MiB',
      atMost: 250,
      comparison: `${memoryMiB.toFixed(0)} MiB with the coordinator that is in the same process`,
    },
    { name: name('commands of Redis'), value: commands, unit: '1/s', atMost: 200, comparison: names },
    { name: name('CPU of Redis'), value: redis, unit: '% of a core' },
  ];
}

async function measure(
  redisPort: number,
  pids: Readonly<Record<'redis' | 'gateway', readonly number[]>>,
  seconds: number,
): Promise<Omit<Measured, 'connectedMs' | 'memoryMiB' | 'withoutMiB'>> {
  const [before, namesBefore] = [await redisInfo(redisPort), await commandsByName(redisPort)];
  const cpu = countCpu(pids);
  const begin = performance.now();
  await sleep(seconds * 1_000);
  const used = cpu();
  const ms = performance.now() - begin;
  const [after, namesAfter] = [await redisInfo(redisPort), await commandsByName(redisPort)];
  const rates = [...namesAfter]
    .map(([name, calls]) => [name, (calls - (namesBefore.get(name) ?? 0)) / (ms / 1_000)] as const)
    .toSorted(([, a], [, b]) => b - a);
  return {
    commands: (after('total_commands_processed') - before('total_commands_processed')) / (ms / 1_000),
    names: rates
      .slice(0, NAMED)
      .map(([name, rate]) => `${name} ${rate.toFixed(0)}`)
      .join(', '),
    redis: (used.redis / ms) * 100,
    gateway: (used.gateway / ms) * 100,
  };
}

function residentMiB(pid: number): number {
  const [, pages = '0'] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ');
  return (Number(pages) * PAGE_BYTES) / 2 ** 20;
}
