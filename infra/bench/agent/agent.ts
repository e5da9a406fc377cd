import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Figure } from '../goals.ts';
import { startBareService } from './bare.ts';
import { countCpu, cpuOfChecks, type Count } from './cpu.ts';
import { latencies } from './latency.ts';
import { treeMemory, type Memory } from './processes.ts';
import { runChecks, type Outcomes, type Pace } from './run-checks.ts';
import { onStage, type Stage } from './stage.ts';
import { timesToHealthy } from './start.ts';

interface Lengths {
  readonly idleSeconds: number;
  readonly paces: readonly Pace[];
  readonly rounds: number;
  readonly latencySeconds: number;
}

const full: Lengths = {
  idleSeconds: 20,
  rounds: 3,
  latencySeconds: 6,
  paces: [
    { perSecond: 1, checks: 10 },
    { perSecond: 20, checks: 160 },
    { perSecond: 100, checks: 600 },
  ],
};
const quick: Lengths = {
  idleSeconds: 10,
  rounds: 1,
  latencySeconds: 3,
  paces: [
    { perSecond: 20, checks: 160 },
    { perSecond: 100, checks: 500 },
  ],
};

const WARM_UP_CHECKS = 5_000;
const WARM_UP_PER_SECOND = 100;

/** Parts of the benchmark; all of them run if none is given. */
const parts = ['cpu', 'latency', 'start'] as const;

/**
 * Cost of a deployed agent: CPU of all its processes, queue and idle work included, and memory, compared with
 * Prometheus' blackbox exporter, which probes the same targets at the same time; latency and start. The built program
 * is driven through `POST /check`.
 *
 * @param only one of the parts
 */
export async function agent(isQuick: boolean, only?: string): Promise<readonly Figure[]> {
  const wants = (part: (typeof parts)[number]): boolean => only === undefined || only === part;
  if (!parts.some(wants)) throw new Error(`unknown part "${only}"; expected one of ${parts.join(', ')}`);
  const lengths = isQuick ? quick : full;
  return onStage(async (stage) => {
    const figures: Figure[] = [{ name: 'load of the machine at the start', value: loadavg()[0]!, unit: '' }];
    await sleep(5_000);
    if (wants('cpu')) figures.push(...(await cpuAndMemory(stage, lengths)));
    if (wants('latency')) {
      progress('latency');
      figures.push(...(await latencies(stage, lengths.latencySeconds)));
    }
    if (wants('start')) {
      progress('start');
      figures.push(...(await timesToHealthy(stage)));
    }
    return [...figures, { name: 'load of the machine at the end', value: loadavg()[0]!, unit: '' }];
  });
}

async function cpuAndMemory(stage: Stage, lengths: Lengths): Promise<readonly Figure[]> {
  const figures = [...(await idle(stage, lengths.idleSeconds))];
  const outcomes: Outcomes = { agent: new Map(), exporter: 0 };
  const count: Count = (check, pace, measured) => runChecks(stage, check, pace, outcomes, measured);
  const pace = { perSecond: WARM_UP_PER_SECOND, checks: WARM_UP_CHECKS / stage.checks.length };
  progress(`memory, and ${WARM_UP_CHECKS} checks`);
  for (const check of stage.checks) await count(check, pace, () => undefined);
  figures.push(...memoryFigures(stage, `after ${WARM_UP_CHECKS} checks`, true));
  const bare = await startBareService(stage.ports);
  try {
    for (const check of stage.checks) {
      progress(`CPU of ${check.type} checks`);
      for (const each of lengths.paces) {
        figures.push(...(await cpuOfChecks({ stage, bare, count }, check, each, lengths.rounds)));
      }
    }
  } finally {
    await bare.stop();
  }
  figures.push(...memoryFigures(stage, `after ${total(outcomes)} checks`, false), succeeded(outcomes));
  return figures;
}

function progress(part: string): void {
  process.stderr.write(`${part} …\n`);
}

/** CPU without any check, and memory before the first one. */
async function idle(stage: Stage, seconds: number): Promise<readonly Figure[]> {
  const used = countCpu(stage);
  await sleep(seconds * 1_000);
  const { agent, exporter, coordinator, redis } = used();
  const perSecond = (ms: number): string => `${(ms / seconds).toFixed(2)} ms`;
  return [
    ...memoryFigures(stage, 'idle', false),
    {
      name: 'CPU of an idle agent',
      value: agent / seconds,
      unit: 'ms a second',
      comparison: `blackbox exporter: ${perSecond(exporter)}`,
    },
    {
      name: 'CPU of an idle coordinator and Redis',
      value: (coordinator + redis) / seconds,
      unit: 'ms a second',
      comparison: `${perSecond(coordinator)} and ${perSecond(redis)}`,
    },
  ];
}

function memoryFigures({ deployment, exporter }: Stage, when: string, isGoal: boolean): readonly Figure[] {
  const { coordinator, agents } = deployment.pids;
  const [ours, theirs, service] = [agents[0]!, exporter.pid, coordinator].map(treeMemory) as [Memory, Memory, Memory];
  const comparison = (field: keyof Memory): string => `blackbox exporter: ${theirs[field].toFixed(0)} MiB`;
  const atMost = (bound: number): Pick<Figure, 'atMost'> => (isGoal ? { atMost: bound } : {});
  const [rss, pss] = [comparison('rssMiB'), comparison('pssMiB')];
  return [
    { name: `agent, ${when}: RSS`, value: ours.rssMiB, unit: 'MiB', ...atMost(150), comparison: rss },
    { name: `agent, ${when}: PSS`, value: ours.pssMiB, unit: 'MiB', ...atMost(100), comparison: pss },
    { name: `coordinator, ${when}: RSS`, value: service.rssMiB, unit: 'MiB', ...atMost(150) },
  ];
}

/** The share of successful checks, as a goal: a failed check may be cheaper than a successful one. */
function succeeded(outcomes: Outcomes): Figure {
  const percent = (count: number): number => (count / total(outcomes)) * 100;
  const others = [...outcomes.agent].filter(([became]) => became !== 'success');
  const reasons = others.map(([became, count]) => `, ${count} × ${became}`).join('');
  const comparison = `blackbox exporter: ${percent(outcomes.exporter).toFixed(2)} %${reasons}`;
  const value = percent(outcomes.agent.get('success') ?? 0);
  return { name: 'checks that succeeded', value, unit: '%', atLeast: 99.5, comparison };
}

function total({ agent }: Outcomes): number {
  return [...agent.values()].reduce((sum, count) => sum + count, 0);
}
