import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { createClient, type Client } from '@vantage/client';
import { openProbeRecords } from '@vantage/coordinator';
import { findRedisServer, startRedisServer } from '@vantage/redis-server';

import { createLeanFetch } from './lean-fetch.ts';

/** A coordinator and agents, each a process of its own as in production, on a Redis of their own. */
export interface Deployment {
  readonly redisPort: number;
  readonly client: Client;
  readonly pids: { readonly coordinator: number; readonly agents: readonly number[] };
  readonly stop: () => Promise<void>;
}

export interface DeploymentOptions {
  readonly probes: number;
  /** The port at which agents find Redis, given the true one: that of a proxy in between. */
  readonly agentRedisPort?: (port: number) => Promise<number>;
}

export async function startDeployment(options: DeploymentOptions): Promise<Deployment> {
  const executable = findRedisServer(process.env['PATH'] ?? '');
  if (executable === undefined) throw new Error('There is no redis-server on this machine: npm run setup installs it.');
  const redis = await startRedisServer({ executable });
  const ids = Array.from({ length: options.probes }, (_, index) => `bench-${index + 1}`);
  await recordProbes(redis.url, ids);

  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const many = '100000000';
  const coordinator = start('coordinator', {
    ...{ HOST: '127.0.0.1', PORT: String(port), PUBLIC_URL: baseUrl, REDIS_URL: redis.url, LOG_LEVEL: 'warn' },
    ...{ RATE_LIMIT_CHECK: many, RATE_LIMIT_RESULTS: many, RATE_LIMIT_PROBES: many, RATE_LIMIT_ME: many },
    TARGET_ALLOW: '127.0.0.0/8',
  });
  const agentPort = (await options.agentRedisPort?.(redis.port)) ?? redis.port;
  const agents = ids.map((id) =>
    start('probe-agent', {
      ...{ PROBE_ID: id, REDIS_URL: `redis://127.0.0.1:${agentPort}`, LOG_LEVEL: 'warn' },
      TARGET_ALLOW: '127.0.0.0/8',
    }),
  );
  const lean = createLeanFetch();
  const client = createClient({ baseUrl, fetch: lean.fetch });
  const stop = async (): Promise<void> => {
    lean.close();
    await Promise.all([coordinator, ...agents].map(end));
    await redis.stop();
  };
  try {
    await untilHealthy(client, options.probes);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    redisPort: redis.port,
    client,
    pids: { coordinator: coordinator.pid!, agents: agents.map(({ pid }) => pid!) },
    stop,
  };
}

/** Resident memory of a process, MiB. */
export function residentMiB(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1_024;
}

function start(app: string, env: Readonly<Record<string, string>>): ChildProcess {
  return fork(new URL(`../../../apps/${app}/src/main.ts`, import.meta.url), [], {
    env: { PATH: process.env['PATH'], ...env },
    execArgv: ['--conditions=source'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await Promise.race([ended, sleep(10_000, undefined, { ref: false })]);
  child.kill('SIGKILL');
}

async function recordProbes(redisUrl: string, ids: readonly string[]): Promise<void> {
  const { records, close } = await openProbeRecords(redisUrl);
  for (const [index, id] of ids.entries()) {
    await records.write({
      ...{ id, name: id, datacenter: id, countryCode: 'QM', isp: 'Bench', asNumber: `AS${64_496 + index}` },
      ...{ city: null, latitude: null, longitude: null, tags: ['bench'] },
    });
  }
  await close();
}

async function untilHealthy(client: Client, count: number): Promise<void> {
  const until = performance.now() + 30_000;
  while (performance.now() < until) {
    const probes = await client.probes().catch(() => ({}));
    const up = Object.values(probes).filter(({ status }: { status: string }) => status !== 'offline');
    if (up.length === count) return;
    await sleep(200);
  }
  throw new Error('The probes did not come up within 30 s.');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
