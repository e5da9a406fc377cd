import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { createClient, type Client } from '@vantage/client';
import { findRedisServer, freePort, startRedisServer } from '@vantage/redis-server';

import { mallocSettings, nodeFlags } from '../../../apps/standalone/src/node-flags.ts';
import { recordProbes, untilProbesAreUp } from '../../trial-probes.ts';
import { createLeanFetch } from './lean-fetch.ts';

/** A coordinator and agents, each in a separate process as in production, with a separate Redis. */
export interface Deployment {
  readonly redisPort: number;
  readonly client: Client;
  readonly pids: { readonly redis: number; readonly coordinator: number; readonly agents: readonly number[] };
  readonly stop: () => Promise<void>;
}

type App = 'coordinator' | 'probe-agent';
type Environment = Readonly<Record<string, string>>;

export interface DeploymentOptions {
  readonly probes: number;
  /** True starts the built files, as images do; default: the sources. */
  readonly isBuilt?: boolean;
  /** Node for the coordinator and the agents; default: the one that runs the benchmark. */
  readonly nodes?: { readonly coordinator: string; readonly agent: string };
  readonly settings?: Readonly<Record<App, Environment>>;
  /** The port at which agents reach Redis, given the real one: that of a proxy in between. */
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
  const start = (app: App, env: Environment): ChildProcess =>
    startApp(app, { ...env, ...options.settings?.[app] }, options);
  const coordinator = start('coordinator', {
    ...mallocSettings,
    HOST: '127.0.0.1',
    PORT: String(port),
    PUBLIC_URL: baseUrl,
    REDIS_URL: redis.url,
    LOG_LEVEL: 'warn',
    RATE_LIMIT_CHECK: many,
    RATE_LIMIT_RESULTS: many,
    RATE_LIMIT_PROBES: many,
    RATE_LIMIT_ME: many,
    RATE_LIMIT_TARGET: many,
    RATE_LIMIT_TARGET_PORTS: many,
    RATE_LIMIT_CLIENT_TARGETS: many,
    TARGET_ALLOW: '127.0.0.0/8',
  });
  const agentPort = (await options.agentRedisPort?.(redis.port)) ?? redis.port;
  const agents = ids.map((id) =>
    start('probe-agent', {
      ...mallocSettings,
      PROBE_ID: id,
      REDIS_URL: `redis://127.0.0.1:${agentPort}`,
      LOG_LEVEL: 'warn',
      SCREENSHOTS: 'off',
      TARGET_ALLOW: '127.0.0.0/8',
      TARGET_NETWORK_LIMIT: many,
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
    pids: { redis: redis.pid, coordinator: coordinator.pid!, agents: agents.map(({ pid }) => pid!) },
    stop,
  };
}

/** Resident memory of a process, MiB. */
export function residentMiB(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1_024;
}

function startApp(app: App, env: Environment, { isBuilt = false, nodes }: DeploymentOptions): ChildProcess {
  const file = isBuilt ? 'dist/main.js' : 'src/main.ts';
  return fork(new URL(`../../../apps/${app}/${file}`, import.meta.url), [], {
    env: { PATH: process.env['PATH'], ...env },
    execPath: (app === 'coordinator' ? nodes?.coordinator : nodes?.agent) ?? process.execPath,
    execArgv: [...nodeFlags[app], ...(isBuilt ? [] : ['--conditions=vantage-source']), ...profiling()],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

/** `VANTAGE_BENCH_PROFILE=<folder>` leaves a CPU profile of each process there. */
function profiling(): readonly string[] {
  const folder = process.env['VANTAGE_BENCH_PROFILE'];
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`];
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await Promise.race([ended, sleep(10_000, undefined, { ref: false })]);
  child.kill('SIGKILL');
}
