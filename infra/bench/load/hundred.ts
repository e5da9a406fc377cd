import { setTimeout as sleep } from 'node:timers/promises';

import { createClient, type Client } from '@vantage/client';

import { cpuSeconds } from '../dns/process-cpu.ts';
import { median, type Figure } from '../goals.ts';
import { createLeanFetch } from '../overhead/lean-fetch.ts';
import { startBareQueue, type RunningBareQueue } from './bare-queue.ts';
import { timeByCommand } from './redis-info.ts';
import { onStage, type Stage } from './stage.ts';

const PROBES = 100;
const JOB_MS = 20;
const WARM_UP = 60;
const ROUNDS = 5;
/** Checks of a round, one after another. */
const CHECKS = 12;
const EVERY_MS = 250;
/** Number of Redis commands that are listed, the most expensive first. */
const NAMED = 12;

/**
 * CPU of Redis for a check on 100 probes whose agents end their jobs at the same time, one check after another, and for
 * 100 jobs of a bare BullMQ, alternately. The cost of idle probes is subtracted.
 */
export async function hundred(): Promise<readonly Figure[]> {
  return onStage({ probes: PROBES, agents: 'simulated', lastsMs: JOB_MS }, async (stage) => {
    const lean = createLeanFetch();
    const client = createClient({ baseUrl: stage.urls[0]!, fetch: lean.fetch });
    const bare = await startBareQueue(PROBES, JOB_MS);
    try {
      return await compare(stage, client, bare);
    } finally {
      lean.close();
      await bare.stop();
    }
  });
}

async function compare(stage: Stage, client: Client, bare: RunningBareQueue): Promise<readonly Figure[]> {
  const redis = stage.pids.redis[0]!;
  const check = (): Promise<void> => runCheck(client);
  const jobs = (): Promise<void> => bare.run(PROBES);
  await paced(check, WARM_UP);
  await paced(jobs, WARM_UP);
  const before = await timeByCommand(stage.redisPort);
  const rounds: { readonly ours: number; readonly floor: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.push({ ours: await cpuMsOf(redis, check), floor: await cpuMsOf(bare.pids.redis, jobs) });
  }
  const value = median(rounds.map(({ ours }) => ours));
  const floor = median(rounds.map((each) => each.floor));
  const range = (values: readonly number[]): string =>
    `${Math.min(...values).toFixed(1)} to ${Math.max(...values).toFixed(1)}`;
  const name = `a check on ${PROBES} probes: CPU of Redis`;
  const perCheck = await commandTimes(stage.redisPort, before);
  return [
    {
      name,
      value,
      unit: 'ms',
      atMost: 10,
      floor,
      comparison: `rounds ${range(rounds.map(({ ours }) => ours))}; ${perCheck}`,
    },
    {
      name: `${PROBES} jobs of a bare BullMQ: CPU of Redis`,
      value: floor,
      unit: 'ms',
      comparison: `rounds ${range(rounds.map((each) => each.floor))}`,
    },
    {
      name: `${name}, bare BullMQ = 1`,
      value: median(rounds.map(({ ours, floor: bareMs }) => ours / bareMs)),
      unit: '',
    },
  ];
}

async function runCheck(client: Client): Promise<void> {
  const { checkId } = await client.startCheck({ type: 'tcp', host: '127.0.0.1', port: 80, limit: PROBES });
  const { results } = await client.results(checkId, { waitSeconds: 20 });
  const count = Object.values(results).filter((result) => result?.result === 'success').length;
  if (count !== PROBES) throw new Error(`only ${count} of ${PROBES} probes succeeded`);
}

/** Calls `once` this many times, one after another, each at least `EVERY_MS` after the start of the one before. */
async function paced(once: () => Promise<void>, times: number): Promise<void> {
  for (let done = 0; done < times; done += 1) await Promise.all([once(), sleep(EVERY_MS)]);
}

/** CPU time of one call, minus that of an idle period of equal length; milliseconds. */
async function cpuMsOf(pid: number, once: () => Promise<void>): Promise<number> {
  const [idleFrom, idleSince] = [cpuSeconds(pid), performance.now()];
  await sleep(EVERY_MS * CHECKS);
  const idle = (cpuSeconds(pid) - idleFrom) / (performance.now() - idleSince);
  const [from, since] = [cpuSeconds(pid), performance.now()];
  await paced(once, CHECKS);
  const used = cpuSeconds(pid) - from - idle * (performance.now() - since);
  return (used / CHECKS) * 1_000;
}

/**
 * Calls per check and time per call of the most expensive commands, by Redis’ own statistics. These include idle
 * probes, and count the time of a command in a script twice: for the command and for the script.
 */
async function commandTimes(port: number, before: Awaited<ReturnType<typeof timeByCommand>>): Promise<string> {
  const after = await timeByCommand(port);
  return [...after]
    .map(([name, { calls, us }]) => {
      const was = before.get(name) ?? { calls: 0, us: 0 };
      return { name, calls: (calls - was.calls) / (ROUNDS * CHECKS), us: (us - was.us) / (ROUNDS * CHECKS) };
    })
    .toSorted((a, b) => b.us - a.us)
    .slice(0, NAMED)
    .map(({ name, calls, us }) => `${name} ${calls.toFixed(0)} × ${(us / calls).toFixed(1)} µs`)
    .join(', ');
}
