import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { quantile, type Figure } from '../bench/goals.ts';
import { openDirect, startDeployment, type Deployment } from './deployment.ts';
import { historyNow, openHistory, readHistory } from './history.ts';
import { describe } from './goals.ts';
import { verifyHistory } from './verify-history.ts';
import type { Tally } from './ledger.ts';
import { observe } from './observer.ts';
import { openWatched, watchOutages } from './outage-watch.ts';
import { residentMiB } from './processes.ts';
import { seeded } from '@vantage/test-support/random/seeded';
import { requestsFor } from './run.ts';
import { watchStalls } from './stalls.ts';

export interface OverloadOptions {
  readonly seed: number;
  readonly loadMs: number;
  /** Called with each line of a description of the outcomes. */
  readonly print: (line: string) => void;
}

interface Memory {
  readonly redisMiB: number;
  readonly coordinatorsMiB: number;
  readonly agentsMiB: number;
}

/** Slots of an agent. */
const CONCURRENCY = 8;
/** Checks per second that the agents complete with these slots and the mix of `requestsFor`. */
const SUSTAINABLE_PER_SECOND = 10;
const RETENTION_SECONDS = 60;
/**
 * Pause after the load: the time of the last check, its retention, and the time in which Redis removes expired keys.
 */
const REST_MS = 7_000 + RETENTION_SECONDS * 1_000 + 15_000;

/**
 * Three times the capacity of the probes, then a pause: accepted checks must complete, refusals must be immediate, and
 * memory must be freed.
 */
export async function overloadFigures({ seed, loadMs, print }: OverloadOptions): Promise<readonly Figure[]> {
  const deployment = await startDeployment({
    agents: 3,
    store: 'single',
    agentEnv: { CONCURRENCY: String(CONCURRENCY) },
    coordinatorEnv: { RESULT_RETENTION_SECONDS: String(RETENTION_SECONDS) },
  });
  try {
    // Memory for modules loaded by the first checks is not a leak.
    await loadOnce(deployment, seed, 5_000, SUSTAINABLE_PER_SECOND / 2);
    const before = await memoryOf(deployment);
    const tally = await loadOnce(deployment, seed, loadMs, SUSTAINABLE_PER_SECOND * 3);
    describe(tally).forEach(print);
    await sleep(REST_MS);
    return [...figuresOf(tally), ...memoryFigures(before, await memoryOf(deployment))];
  } finally {
    await deployment.stop();
  }
}

/**
 * Runs a constant load and follows each check to its end.
 *
 * @param indulgenceMs see `RunOptions`
 */
export async function loadOnce(
  deployment: Deployment,
  seed: number,
  loadMs: number,
  rate: number,
  indulgenceMs = 0,
): Promise<Tally> {
  const random = seeded(seed);
  const port = await deployment.store.masterPort();
  const file = join(deployment.folder, 'history.jsonl');
  const history = openHistory(file);
  history.add({ kind: 'setup', store: 'single', indulgenceMs, keptMs: RETENTION_SECONDS * 1_000 });
  const stalls = watchStalls(history);
  const outages = watchOutages(
    () => openWatched([{ port }]),
    () => true,
    (outage) => history.add({ kind: 'outage', ...outage }),
  );
  const observer = observe({
    coordinators: deployment.coordinators,
    history,
    rate,
    random,
    nextRequest: requestsFor(deployment, random),
  });
  observer.attribute('overload');
  const from = historyNow();
  await sleep(loadMs);
  // The excess load explains why probes get no further jobs.
  history.add({ kind: 'fault', name: 'overload', from, to: historyNow(), harmed: ['probes'] });
  await observer.finish();
  await outages.stop();
  await stalls.stop();
  await history.close();
  return verifyHistory(readHistory(file)).find(({ fault }) => fault === 'overload')!;
}

function figuresOf(tally: Tally): readonly Figure[] {
  const { accepted, broken, refused, timedOut, timedOutByStalls, refusalsMs } = tally;
  const brokenPromises = Object.values(broken).reduce((sum, count) => sum + count, 0);
  return [
    { name: 'overload: checks accepted', value: accepted, unit: '', atLeast: 1 },
    { name: 'overload: requests refused', value: refused, unit: '', atLeast: 1 },
    { name: 'overload: promises broken', value: brokenPromises, unit: '', atMost: 0 },
    {
      name: 'overload: results of accepted checks that timed out',
      value: timedOut - timedOutByStalls,
      unit: '',
      atMost: 0,
      comparison: `${timedOutByStalls} more while the machine stood still for a second or more`,
    },
    {
      name: 'overload: p99 of refusals',
      value: refused === 0 ? 0 : quantile(refusalsMs, 0.99),
      unit: 'ms',
      atMost: 200,
    },
  ];
}

/** Memory of the processes: at most half more than before, plus a slack: Node returns memory with a delay. */
function memoryFigures(before: Memory, after: Memory): readonly Figure[] {
  const figure = (name: string, from: number, to: number, slackMiB: number): Figure => ({
    name: `overload: memory of ${name} afterwards`,
    value: to,
    unit: 'MiB',
    atMost: from * 1.5 + slackMiB,
    comparison: `${Math.round(from * 10) / 10} before`,
  });
  return [
    figure('Redis', before.redisMiB, after.redisMiB, 1),
    figure('the coordinators', before.coordinatorsMiB, after.coordinatorsMiB, 30),
    figure('the agents', before.agentsMiB, after.agentsMiB, 30),
  ];
}

async function memoryOf({ store, coordinators, agents }: Deployment): Promise<Memory> {
  const redis = openDirect(await store.masterPort());
  const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
  redis.disconnect();
  const sum = (parts: readonly { readonly part: { readonly pid: () => number | undefined } }[]): number =>
    parts.reduce((total, { part }) => total + residentMiB(part.pid()), 0);
  return { redisMiB: used / 1_048_576, coordinatorsMiB: sum(coordinators), agentsMiB: sum(agents) };
}
