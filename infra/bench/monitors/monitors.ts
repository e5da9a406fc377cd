import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { quantile, type Figure } from '../goals.ts';
import { countCpu } from '../load/processes.ts';
import { onStage, type Stage } from '../load/stage.ts';
import { fillRuns } from './fill-runs.ts';
import { watchMemory } from './memory.ts';
import { postOneOff } from './one-off.ts';
import { schedulers } from './schedulers.ts';
import { describeDelays, readTicks } from './ticks.ts';

const MONITORS = 1_000;
const PROBES = 10;
const EVERY_MS = 60_000;
const CHECK = { type: 'tcp', host: '127.0.0.1', port: 9, limit: PROBES } as const;
const START_P99_MS = 1_000;
/** Permitted growth factor of a coordinator’s memory: Node returns memory to the system with a delay. */
const COORDINATOR_GROWTH = 1.1;
/** Permitted growth factor of the memory of Redis. */
const REDIS_GROWTH = 1.05;
const names = Array.from({ length: MONITORS }, (_, index) => `monitor-${index}`);

interface Lengths {
  readonly postSeconds: number;
  readonly warmUpSeconds: number;
  readonly seconds: number;
  readonly retentionSeconds: number;
}

/** The retention is shorter than the warm-up, after which as many results expire as are written. */
const long: Lengths = { postSeconds: 45, warmUpSeconds: 100, seconds: 240, retentionSeconds: 60 };
const short: Lengths = { postSeconds: 10, warmUpSeconds: 20, seconds: 40, retentionSeconds: 10 };

/** Runs a thousand monitors on ten probes each minute: delay of their ticks, and cost. */
export async function monitors(quick: boolean): Promise<readonly Figure[]> {
  const lengths = quick ? short : long;
  const folder = mkdtempSync(join(tmpdir(), 'vantage-bench-monitors-'));
  const file = join(folder, 'monitors.yml');
  writeFileSync(file, 'monitors: {}\n');
  const env = { MONITORS_FILE: file, RESULT_RETENTION_SECONDS: String(lengths.retentionSeconds) };
  try {
    return await onStage({ probes: PROBES, agents: 'simulated', keepsStarts: true, env }, async (stage) => {
      await stage.addCoordinator();
      const oneOff = await measureOneOff(stage, lengths);
      const entries = names.map((name) => `  ${name}: {check: ${JSON.stringify(CHECK)}, every: 60s}`);
      writeFileSync(`${file}.new`, `monitors:\n${entries.join('\n')}\n`);
      renameSync(`${file}.new`, file);
      const own = await measureMonitors(stage, lengths, oneOff);
      return [...own, ...(await schedulers(stage, MONITORS, EVERY_MS, lengths.postSeconds))];
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const processes = { redis: 'Redis', coordinators: 'two coordinators', agents: 'the probes' } as const;

interface Cost {
  readonly delaysMs: readonly number[];
  /** CPU time of a check, milliseconds. */
  readonly perCheck: Readonly<Record<'redis' | 'coordinators' | 'agents', number>>;
}

async function measureOneOff(stage: Stage, { postSeconds }: Lengths): Promise<Cost> {
  const rate = MONITORS / (EVERY_MS / 1_000);
  // Warm-up: V8 compiles the code before the measurement.
  await postOneOff(stage, CHECK, rate, 3);
  const cpu = countCpu(stage.pids);
  const delaysMs = await postOneOff(stage, CHECK, rate, postSeconds);
  return { delaysMs, perCheck: divided(cpu(), delaysMs.length) };
}

async function measureMonitors(
  stage: Stage,
  { warmUpSeconds, seconds }: Lengths,
  oneOff: Cost,
): Promise<readonly Figure[]> {
  await sleep(warmUpSeconds * 750);
  await fillRuns(stage.redisPort, names);
  await sleep(warmUpSeconds * 250);
  const from = Date.now();
  const endMemory = watchMemory(stage);
  const cpu = countCpu(stage.pids);
  await sleep(seconds * 1_000);
  const used = cpu();
  const growth = await endMemory();
  const to = Date.now();
  // Time in which the last ticks of the period are evaluated; a tick that is not evaluated by then counts as lost.
  await sleep(5_000);
  const ticks = await readTicks(stage.redisPort, names, await stage.starts(), {
    from,
    to,
    everyMs: EVERY_MS,
    probes: PROBES,
  });
  const perCheck = divided(used, ticks.due);
  const name = (what: string): string => `${MONITORS} monitors at ${PROBES} probes: ${what}`;
  return [
    {
      name: name('ticks due'),
      value: ticks.due,
      unit: '',
      atLeast: (0.95 * MONITORS * seconds * 1_000) / EVERY_MS,
    },
    { name: name('ticks lost'), value: ticks.lost, unit: '', atMost: 0 },
    { name: name('ticks doubled'), value: ticks.doubled, unit: '', atMost: 0 },
    { ...delayFigure(name('p99 from the tick to its start at the first probe'), ticks.firstMs), atMost: START_P99_MS },
    delayFigure(name('p99 from the tick to its start at the last probe'), ticks.lastMs),
    delayFigure(name('p99 of checks that clients post at the same rate'), oneOff.delaysMs),
    growthFigure(name('memory of a coordinator, times that at the begin'), growth.coordinator, COORDINATOR_GROWTH),
    growthFigure(name('memory of Redis, times that at the begin'), growth.redis, REDIS_GROWTH),
    ...Object.entries(used).map(([process, cpuMs]) => ({
      name: name(`CPU of ${processes[process as keyof typeof used]}`),
      value: cpuMs / (seconds * 10),
      unit: '% of a core',
    })),
    costFigure('coordinators', perCheck.coordinators, oneOff.perCheck.coordinators),
    costFigure('Redis', perCheck.redis, oneOff.perCheck.redis),
  ];
}

function growthFigure(
  name: string,
  { from, to }: { readonly from: number; readonly to: number },
  atMost: number,
): Figure {
  return { name, value: to / from, unit: '', atMost, comparison: `${from.toFixed(0)} and ${to.toFixed(0)} MiB` };
}

function delayFigure(name: string, delaysMs: readonly number[]): Figure {
  return { name, value: quantile(delaysMs, 0.99), unit: 'ms', comparison: describeDelays(delaysMs) };
}

function costFigure(name: string, ofTick: number, ofPost: number): Figure {
  return {
    name: `CPU of a tick, a check that a client posts and awaits = 1: ${name}`,
    value: ofTick / ofPost,
    unit: '',
    comparison: `${ofTick.toFixed(1)} and ${ofPost.toFixed(1)} ms`,
  };
}

function divided<Name extends string>(
  used: Readonly<Record<Name, number>>,
  by: number,
): Readonly<Record<Name, number>> {
  const shares = Object.entries<number>(used).map(([name, value]) => [name, value / by]);
  return Object.fromEntries(shares) as Record<Name, number>;
}
