import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

import { findRedisServer, freePort, startRedisCluster, startRedisServer } from '@vantage/redis-server';

import { nodeFlags } from '../../../apps/standalone/src/node-flags.ts';
import { recordProbes, untilProbesAreUp } from '../../trial-probes.ts';
import { keepOnline } from './keep-online.ts';
import { end, startProcess, startWorker } from './processes.ts';

/**
 * Redis, coordinators and agents, apart from the process of the benchmark: one process each, but one for all simulated
 * agents.
 */
export interface Stage {
  /** Of the first master, if there are several. */
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
  /** Number of masters of a Redis Cluster; without it, there is one Redis. */
  readonly masters?: number;
  /** Additional settings of the coordinators. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Number of probes of a stage, unless a benchmark needs another one. */
export const PROBES = 20;
/** Number of probes per check. */
export const PER_CHECK = 5;

/** Durations of the parts of the benchmark. */
export interface Lengths {
  readonly warmUpSeconds: number;
  readonly trySeconds: number;
  readonly holdSeconds: number;
  /**
   * Duration of a measurement of idle agents: a multiple of 10 s, the interval at which a coordinator reads all idle
   * probes in one burst, so that every measurement contains equally many bursts.
   */
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

async function startStage({ probes, env = {}, masters, ...load }: StageOptions): Promise<Stage> {
  const redis = await startRedis(masters);
  const ids = Array.from({ length: probes }, (_, index) => `sim-${index}`);
  const coordinators: ChildProcess[] = [];
  const agentProcesses: ChildProcess[] = [];
  const urls: string[] = [];
  let stopHeartbeats = (): void => undefined;
  const stage: Stage = {
    redisPort: redis.ports[0]!,
    starts: async () => {
      const all = agentProcesses.map(async (child) => {
        child.send('starts');
        return ((await once(child, 'message')) as [Awaited<ReturnType<Stage['starts']>>])[0];
      });
      return (await Promise.all(all)).flat();
    },
    urls,
    pids: { redis: redis.pids, coordinators: [], agents: [] },
    addCoordinator: async () => {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      const child = startProcess(COORDINATOR, [], { ...coordinatorSettings(port, url, redis.url), ...env }, [
        ...nodeFlags.coordinator,
        ...profiling(),
      ]);
      coordinators.push(child);
      urls.push(url);
      (stage.pids.coordinators as number[]).push(child.pid!);
      await untilProbesAreUp(url, probes);
    },
    stop: async () => {
      await Promise.all([...coordinators, ...agentProcesses].map(end));
      stopHeartbeats();
      await redis.stop();
    },
  };
  try {
    await recordProbes(redis.url, ids);
    if (load.agents === 'none') stopHeartbeats = await keepOnline(redis.url, ids);
    agentProcesses.push(...(await startAgents(load, redis.url, ids)));
    (stage.pids.agents as number[]).push(...agentProcesses.map(({ pid }) => pid!));
    await stage.addCoordinator();
    return stage;
  } catch (error) {
    await stage.stop();
    throw error;
  }
}

async function startRedis(masters: number | undefined): Promise<{
  readonly url: string;
  readonly ports: readonly number[];
  readonly pids: readonly number[];
  readonly stop: () => Promise<void>;
}> {
  const executable = findRedisServer(process.env['PATH'] ?? '');
  if (executable === undefined) throw new Error('There is no redis-server on this machine: npm run setup installs it.');
  if (masters === undefined) {
    const { url, port, pid, stop } = await startRedisServer({ executable });
    return { url, ports: [port], pids: [pid], stop };
  }
  const { url, nodes, stop } = await startRedisCluster(executable, masters);
  return { url, ports: nodes.map(({ port }) => port), pids: nodes.map(({ pid }) => pid), stop };
}

/** Settings with limits that are never reached; checks of this machine are allowed. */
function coordinatorSettings(port: number, url: string, redisUrl: string): Readonly<Record<string, string>> {
  return {
    HOST: '127.0.0.1',
    PORT: String(port),
    PUBLIC_URL: url,
    REDIS_URL: redisUrl,
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
  };
}

/** Simulated agents are all in one process, real ones in a process each. */
async function startAgents(
  { agents, lastsMs = 20, keepsStarts = false }: Omit<StageOptions, 'probes' | 'env' | 'masters'>,
  redisUrl: string,
  ids: readonly string[],
): Promise<readonly ChildProcess[]> {
  if (agents === 'none') return [];
  if (agents === 'simulated') {
    const keep = keepsStarts ? 'keep' : '';
    const { child } = await startWorker(SIMULATED, [redisUrl, '0', String(ids.length), String(lastsMs), keep]);
    return [child];
  }
  return ids.map((id) =>
    startProcess(AGENT, [], {
      PROBE_ID: id,
      REDIS_URL: redisUrl,
      LOG_LEVEL: 'warn',
      SCREENSHOTS: 'off',
      TARGET_ALLOW: '127.0.0.0/8',
      TARGET_NETWORK_LIMIT: MANY,
    }),
  );
}

/** `VANTAGE_BENCH_PROFILE=<folder>` leaves a CPU profile of each coordinator there. */
function profiling(): readonly string[] {
  const folder = process.env['VANTAGE_BENCH_PROFILE'];
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`];
}
