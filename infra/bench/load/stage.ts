import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

import { findRedisServer, freePort, startRedisServer } from '@vantage/redis-server';

import { nodeFlags } from '../../../apps/standalone/src/node-flags.ts';
import { recordProbes, untilProbesAreUp } from '../../trial-probes.ts';
import { playDead } from './play-dead.ts';
import { end, startProcess, startWorker } from './processes.ts';

/** Redis, coordinators and agents, each in a separate process. */
export interface Stage {
  readonly redisPort: number;
  /** When each job began since the last call, milliseconds since the epoch; needs `keepsStarts`. */
  readonly starts: () => Promise<readonly (readonly [id: string, atMs: number])[]>;
  readonly urls: readonly string[];
  readonly pids: {
    readonly redis: readonly number[];
    readonly coordinators: readonly number[];
    readonly agents: readonly number[];
  };
  readonly addCoordinator: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

interface StageOptions {
  readonly probes: number;
  /** `none`: the probes are online and take no jobs. */
  readonly agents: 'simulated' | 'real' | 'none';
  /** Duration of a simulated job, milliseconds. */
  readonly lastsMs?: number;
  /** True if simulated agents record the start of each job. */
  readonly keepsStarts?: boolean;
  /** Additional settings of the coordinators. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Number of probes of the stage, and of probes per check. */
export const PROBES = 20;
export const PER_CHECK = 5;

/** Duration of each part of the benchmark. */
export interface Lengths {
  readonly warmUpSeconds: number;
  readonly trySeconds: number;
  readonly holdSeconds: number;
  readonly postSeconds: number;
  readonly idleSeconds: number;
}

const MANY = '1000000000';
const COORDINATOR = new URL('../../../apps/coordinator/src/main.ts', import.meta.url);
const AGENT = new URL('../../../apps/probe-agent/src/main.ts', import.meta.url);
const SIMULATED = new URL('simulated-agents-worker.ts', import.meta.url);

export async function onStage<T>(options: StageOptions, use: (stage: Stage) => Promise<T>): Promise<T> {
  const stage = await startStage(options);
  try {
    return await use(stage);
  } finally {
    await stage.stop();
  }
}

async function startStage({
  probes,
  agents,
  lastsMs = 20,
  keepsStarts = false,
  env = {},
}: StageOptions): Promise<Stage> {
  const executable = findRedisServer(process.env['PATH'] ?? '');
  if (executable === undefined) throw new Error('There is no redis-server on this machine: npm run setup installs it.');
  const redis = await startRedisServer({ executable });
  const ids = Array.from({ length: probes }, (_, index) => `sim-${index}`);
  const coordinators: ChildProcess[] = [];
  const agentProcesses: ChildProcess[] = [];
  const urls: string[] = [];
  let stopPlaying = (): void => undefined;
  const stage: Stage = {
    redisPort: redis.port,
    starts: async () => {
      const all = agentProcesses.map(async (child) => {
        child.send('starts');
        return ((await once(child, 'message')) as [Awaited<ReturnType<Stage['starts']>>])[0];
      });
      return (await Promise.all(all)).flat();
    },
    urls,
    pids: { redis: [redis.pid], coordinators: [], agents: [] },
    addCoordinator: async () => {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      const child = startProcess(
        COORDINATOR,
        [],
        {
          HOST: '127.0.0.1',
          PORT: String(port),
          PUBLIC_URL: url,
          REDIS_URL: redis.url,
          LOG_LEVEL: 'warn',
          RATE_LIMIT_CHECK: MANY,
          RATE_LIMIT_RESULTS: MANY,
          RATE_LIMIT_EVENTS: MANY,
          RATE_LIMIT_PROBES: MANY,
          RATE_LIMIT_TARGET: MANY,
          RATE_LIMIT_TARGET_PORTS: MANY,
          RATE_LIMIT_CLIENT_TARGETS: MANY,
          EVENT_STREAMS_PER_CLIENT: '100000',
          EVENT_STREAMS: '100000',
          TARGET_ALLOW: '127.0.0.0/8',
          ...env,
        },
        [...nodeFlags.coordinator, ...profiling()],
      );
      coordinators.push(child);
      urls.push(url);
      (stage.pids.coordinators as number[]).push(child.pid!);
      await untilProbesAreUp(url, probes);
    },
    stop: async () => {
      await Promise.all([...coordinators, ...agentProcesses].map(end));
      stopPlaying();
      await redis.stop();
    },
  };
  try {
    await recordProbes(redis.url, ids);
    if (agents === 'none') stopPlaying = await playDead(redis.url, ids);
    if (agents === 'simulated') {
      const { child } = await startWorker(SIMULATED, [
        redis.url,
        '0',
        String(probes),
        String(lastsMs),
        keepsStarts ? 'keep' : '',
      ]);
      agentProcesses.push(child);
    } else if (agents === 'real') {
      for (const id of ids) {
        agentProcesses.push(
          startProcess(AGENT, [], {
            PROBE_ID: id,
            REDIS_URL: redis.url,
            LOG_LEVEL: 'warn',
            SCREENSHOTS: 'off',
            TARGET_ALLOW: '127.0.0.0/8',
            TARGET_NETWORK_LIMIT: MANY,
          }),
        );
      }
    }
    (stage.pids.agents as number[]).push(...agentProcesses.map(({ pid }) => pid!));
    await stage.addCoordinator();
    return stage;
  } catch (error) {
    await stage.stop();
    throw error;
  }
}

/** `VANTAGE_BENCH_PROFILE=<folder>` leaves a CPU profile of each coordinator there. */
function profiling(): readonly string[] {
  const folder = process.env['VANTAGE_BENCH_PROFILE'];
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`];
}
