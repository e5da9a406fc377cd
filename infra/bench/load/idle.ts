import { setTimeout as sleep } from 'node:timers/promises';

import { redisKeys } from '@vantage/contract';
import { Redis } from 'ioredis';

import type { Figure } from '../goals.ts';
import { countCpu } from './processes.ts';
import { commandsByName, redisInfo } from './redis-info.ts';
import { onStage, type Stage } from './stage.ts';

const IDLE_PROBES = 1_000;
/** Permitted Redis commands per second of all processes together, including those called by scripts. */
const MOST_COMMANDS = 1_500;
/**
 * Age of the agents' connections at the second measurement: in the first minute, an agent polls more often for jobs
 * whose reply was lost.
 */
const FIRST_MINUTE_MS = 65_000;
/** Number of Redis commands that are listed, the most frequent first. */
const NAMED = 8;

/**
 * Costs of 1,000 idle agents.
 *
 * @param seconds how long each state is measured
 */
export async function idleProbes(seconds: number): Promise<readonly Figure[]> {
  return onStage({ probes: IDLE_PROBES, agents: 'simulated' }, async (stage) => {
    await leaveStreams(stage.redisPort);
    await sleep(3_000);
    const first = await measure(stage, seconds);
    await sleep(Math.max(0, FIRST_MINUTE_MS - seconds * 1_000));
    const { commands, names, memoryMiB, share } = await measure(stage, seconds);
    await stage.addCoordinator();
    await sleep(15_000);
    const two = await measure(stage, seconds);
    const name = (what: string): string => `${IDLE_PROBES} idle probes: ${what}`;
    return [
      { name: name('memory of Redis'), value: memoryMiB, unit: 'MiB' },
      {
        name: name('commands in the first minute'),
        value: first.commands,
        unit: '1/s',
        comparison: first.names,
      },
      { name: name('commands'), value: commands, unit: '1/s', atMost: MOST_COMMANDS, comparison: names },
      {
        name: name('commands, two coordinators'),
        value: two.commands,
        unit: '1/s',
        atMost: MOST_COMMANDS,
        comparison: two.names,
      },
      { name: name('CPU of Redis'), value: share.redis, unit: '% of a core' },
      { name: name('CPU of the coordinator'), value: share.coordinators, unit: '% of a core' },
      { name: name('CPU of their one process'), value: share.agents, unit: '% of a core' },
    ];
  });
}

/** Leaves an empty result stream of each probe, as its first check does. */
async function leaveStreams(port: number): Promise<void> {
  const redis = new Redis({ port, host: '127.0.0.1' });
  for (let index = 0; index < IDLE_PROBES; index += 1) {
    const key = redisKeys.results(`sim-${index}`);
    const id = await redis.xadd(key, '*', 'check', 'x');
    await redis.xdel(key, id!);
  }
  redis.disconnect();
}

interface Idle {
  readonly commands: number;
  readonly names: string;
  readonly memoryMiB: number;
  readonly share: Readonly<Record<'redis' | 'coordinators' | 'agents', number>>;
}

async function measure({ redisPort, pids }: Stage, seconds: number): Promise<Idle> {
  const [before, namesBefore] = [await redisInfo(redisPort), await commandsByName(redisPort)];
  const cpu = countCpu(pids);
  const begin = performance.now();
  await sleep(seconds * 1_000);
  const used = cpu();
  const ms = performance.now() - begin;
  const [after, namesAfter] = [await redisInfo(redisPort), await commandsByName(redisPort)];
  const perSecond = (count: number): number => count / (ms / 1_000);
  const rates = [...namesAfter]
    .map(([name, count]) => [name, perSecond(count - (namesBefore.get(name) ?? 0))] as const)
    .toSorted(([, a], [, b]) => b - a);
  const share = (cpuMs: number): number => (cpuMs / ms) * 100;
  return {
    commands: perSecond(after('total_commands_processed') - before('total_commands_processed')),
    names: rates
      .slice(0, NAMED)
      .map(([name, rate]) => `${name} ${rate.toFixed(0)}`)
      .join(', '),
    memoryMiB: after('used_memory') / 2 ** 20,
    share: { redis: share(used.redis), coordinators: share(used.coordinators), agents: share(used.agents) },
  };
}
