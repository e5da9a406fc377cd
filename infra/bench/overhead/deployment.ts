import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { createClient, type Client } from '@vantage/client';
import { findRedisServer, freePort, startRedisServer } from '@vantage/redis-server';

import { recordProbes, untilProbesAreUp } from '../../trial-probes.ts';
import { createLeanFetch } from './lean-fetch.ts';

/** A coordinator and agents, each in a separate process as in production, with a separate Redis. */
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
    ...{ RATE_LIMIT_TARGET: many, RATE_LIMIT_TARGET_PORTS: many, RATE_LIMIT_CLIENT_TARGETS: many },
    TARGET_ALLOW: '127.0.0.0/8',
  });
  const agentPort = (await options.agentRedisPort?.(redis.port)) ?? redis.port;
  const agents = ids.map((id) =>
    start('probe-agent', {
      ...{ PROBE_ID: id, REDIS_URL: `redis://127.0.0.1:${agentPort}`, LOG_LEVEL: 'warn', SCREENSHOTS: 'off' },
      ...{ TARGET_ALLOW: '127.0.0.0/8', TARGET_NETWORK_LIMIT: many },
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
    await untilProbesAreUp(baseUrl, options.probes);
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
    execArgv: ['--conditions=vantage-source'],
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
