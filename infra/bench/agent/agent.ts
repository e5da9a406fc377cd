import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

import { median, type Figure } from '../goals.ts';
import type { ComparedCheck } from './checks.ts';
import { latencies } from './latency.ts';
import { treeCpuMs, treeMemory, type Memory } from './processes.ts';
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
    { perSecond: 1, checks: 15 },
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
/** Goals of a check's CPU time, the exporter's = 1, by the rate. */
const ALLOWED = new Map([
  [20, 1.3],
  [100, 1],
]);

/**
 * Cost of a deployed agent compared with Prometheus' blackbox exporter, which probes the same targets at the same
 * time: CPU of all its processes, queue and idle work included, memory, latency and start. The built program is
 * driven through `POST /check`.
 */
export async function agent(isQuick: boolean): Promise<readonly Figure[]> {
  const lengths = isQuick ? quick : full;
  return onStage(async (stage) => {
    const figures: Figure[] = [{ name: 'load of the machine at the start', value: loadavg()[0]!, unit: '' }];
    await sleep(5_000);
    figures.push(...(await idle(stage, lengths.idleSeconds)));
    const outcomes: Outcomes = { agent: new Map(), exporter: 0 };
    const count: Count = (check, pace, measured) => runChecks(stage, check, pace, outcomes, measured);
    const pace = { perSecond: WARM_UP_PER_SECOND, checks: WARM_UP_CHECKS / stage.checks.length };
    progress(`memory, and ${WARM_UP_CHECKS} checks`);
    for (const check of stage.checks) await count(check, pace, () => undefined);
    figures.push(...memoryFigures(stage, `after ${WARM_UP_CHECKS} checks`, true));
    for (const check of stage.checks) {
      progress(`CPU of ${check.type} checks`);
      for (const pace of lengths.paces) figures.push(...(await cpu(stage, check, pace, lengths.rounds, count)));
    }
    figures.push(...memoryFigures(stage, `after ${total(outcomes)} checks`, false), succeeded(outcomes));
    progress('latency and start');
    figures.push(...(await latencies(stage, lengths.latencySeconds)), ...(await timesToHealthy(stage)));
    return [...figures, { name: 'load of the machine at the end', value: loadavg()[0]!, unit: '' }];
  });
}

function progress(part: string): void {
  process.stderr.write(`${part} …\n`);
}

/** CPU without any check, and memory before the first one. */
async function idle(stage: Stage, seconds: number): Promise<readonly Figure[]> {
  const used = cpuOf(stage);
  await sleep(seconds * 1_000);
  const { agent, exporter, service } = used();
  const comparison = `blackbox exporter: ${(exporter / seconds).toFixed(2)} ms`;
  return [
    ...memoryFigures(stage, 'idle', false),
    { name: 'CPU of an idle agent', value: agent / seconds, unit: 'ms a second', comparison },
    { name: 'CPU of an idle coordinator and Redis', value: service / seconds, unit: 'ms a second' },
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

type Count = (check: ComparedCheck, pace: Pace, measured: () => void) => Promise<number>;

async function cpu(
  stage: Stage,
  check: ComparedCheck,
  pace: Pace,
  rounds: number,
  count: Count,
): Promise<readonly Figure[]> {
  const spent: Used[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const used = cpuOf(stage);
    let total: Used | undefined;
    const succeeded = await count(check, pace, () => (total = used()));
    // A check that the service temporarily refused cost the agent nothing.
    if (succeeded > 0) spent.push(perCheck(total!, succeeded, pace.checks));
  }
  const each = (name: keyof Used): number => median(spent.map((used) => used[name]));
  const ratio = median(spent.map(({ agent, exporter }) => agent / exporter));
  const name = `${check.type} at ${pace.perSecond} a second`;
  const comparison = `blackbox exporter: ${each('exporter').toFixed(2)} ms`;
  const atMost = ALLOWED.get(pace.perSecond);
  const service: Figure = { name: `${name}: CPU of coordinator and Redis`, value: each('service'), unit: 'ms' };
  return [
    { name: `${name}: CPU of the agent`, value: each('agent'), unit: 'ms', comparison },
    {
      name: `${name}: CPU, exporter = 1`,
      value: ratio,
      unit: '×',
      ...(atMost === undefined ? {} : { atMost }),
      comparison,
    },
    check.type === 'tcp' && pace.perSecond === 20 ? { ...service, atMost: 1.5 } : service,
  ];
}

function perCheck({ agent, exporter, service }: Used, succeeded: number, probed: number): Used {
  return { agent: agent / succeeded, exporter: exporter / probed, service: service / succeeded };
}

/** CPU time and duration, milliseconds. */
interface Used {
  readonly agent: number;
  readonly exporter: number;
  readonly service: number;
}

function cpuOf({ deployment, exporter }: Stage): () => Used {
  const { redis, coordinator, agents } = deployment.pids;
  const read = (): Used => ({
    agent: treeCpuMs(agents[0]!),
    exporter: treeCpuMs(exporter.pid),
    service: treeCpuMs(redis) + treeCpuMs(coordinator),
  });
  const before = read();
  return () => {
    const now = read();
    return {
      agent: now.agent - before.agent,
      exporter: now.exporter - before.exporter,
      service: now.service - before.service,
    };
  };
}

/** A failed check may be cheaper than a successful one. */
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
