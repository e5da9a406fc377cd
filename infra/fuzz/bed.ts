import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

import { HEARTBEAT_EVERY_MS, HEARTBEAT_TTL_MS, JOB_QUEUE, redisKeys, type Heartbeat } from '@vantage/contract';
import { checkTypeNames } from '@vantage/diagnostics/contract';
import { findRedisServer, startRedisServer } from '@vantage/redis-server';
import { bundledProgram } from '@vantage/test-support/programs/bundled-program';
import { programEnv } from '@vantage/test-support/programs/program-env';
import { Redis } from 'ioredis';

// Not from `@vantage/coordinator`, which would load the whole coordinator.
import { openProbeRecords } from '../../apps/coordinator/src/probes/registry/open-probe-records.ts';
import { startCoordinatorProcess, type CoordinatorProcess } from './coordinator-process.ts';

/** A coordinator with a separate Redis, and two simulated probes: no packet is sent to any target. */
export interface FuzzBed {
  readonly coordinator: CoordinatorProcess;
  readonly redisUrl: string;
  /** Takes all waiting jobs of both probes, and answers none: a probe that takes no jobs is degraded. */
  readonly takeJobs: () => Promise<void>;
  /** Takes a job like an agent, and writes the result unless it is undefined. */
  readonly report: (probe: string, checkId: string, result: string | undefined) => Promise<void>;
  readonly stop: () => Promise<void>;
}

export const PROBES = ['fra-1', 'nyc-1'] as const;

const heartbeat: Heartbeat = {
  v: 1,
  version: '0.1.0',
  instance: 'fuzz',
  degraded: [],
  load: { running: 0, capacity: 1_000_000 },
  draining: false,
  capabilities: { types: [...checkTypeNames], ipv4: true, ipv6: true, screenshot: false },
};

/** Adds an API key whose limit is out of reach, and returns its text. */
export function addKey(redisUrl: string, scopes: string): string {
  const args = [bundledProgram('coordinator', 'admin/main'), 'key:add', 'infra', '--scopes', scopes];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...args, '--limit', '1000000'], {
    encoding: 'utf8',
    env: programEnv({ REDIS_URL: redisUrl }),
  });
  if (status !== 0) throw new Error(`the key was not added: ${stderr}`);
  return stdout.trim();
}

/** @param env of the coordinator, in addition to the common settings */
export async function startFuzzBed(env: Readonly<Record<string, string>> = {}): Promise<FuzzBed> {
  const executable = findRedisServer(process.env['PATH'] ?? '');
  if (executable === undefined) throw new Error('There is no redis-server on this machine: npm run setup installs it.');
  const server = await startRedisServer({ executable });
  const redis = new Redis(server.url, { maxRetriesPerRequest: null });
  const { records, close } = await openProbeRecords(server.url);
  for (const id of PROBES) {
    await records.write({
      id,
      name: id,
      datacenter: id,
      countryCode: 'DE',
      isp: 'Example Net',
      asNumber: 'AS64496',
      city: null,
      latitude: null,
      longitude: null,
      tags: ['fuzz'],
    });
  }
  await close();
  const beat = async (): Promise<void> => {
    for (const id of PROBES)
      await redis.set(redisKeys.heartbeat(id), JSON.stringify(heartbeat), 'PX', HEARTBEAT_TTL_MS);
  };
  await beat();
  const beating = setInterval(() => void beat().catch(() => undefined), HEARTBEAT_EVERY_MS);
  const stopRedis = async (): Promise<void> => {
    clearInterval(beating);
    redis.disconnect();
    await server.stop();
  };
  const coordinator = await startCoordinatorProcess(server.url, env).catch(async (error: unknown) => {
    await stopRedis();
    throw error;
  });
  const stop = async (): Promise<void> => {
    await coordinator.stop();
    await stopRedis();
  };
  while (!(await fetch(`${coordinator.url}/readyz`)).ok) await sleep(20);
  return {
    coordinator,
    redisUrl: server.url,
    takeJobs: async () => {
      await redis.del(PROBES.map((probe) => `${redisKeys.queuePrefix(probe)}:${JOB_QUEUE}:wait`));
    },
    report: async (probe, checkId, result) => {
      const jobs = `${redisKeys.queuePrefix(probe)}:${JOB_QUEUE}`;
      await Promise.all([redis.lrem(`${jobs}:wait`, 0, checkId), redis.del(`${jobs}:${checkId}`)]);
      if (result === undefined) return;
      await redis.xadd(redisKeys.results(probe), '*', 'check', checkId, 'kind', 'final', 'data', result);
      await redis.publish(redisKeys.resultNotification(probe), '1');
    },
    stop,
  };
}
