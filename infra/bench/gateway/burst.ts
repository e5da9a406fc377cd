import { setTimeout as sleep } from 'node:timers/promises';

import type { RedisServer } from '@vantage/redis-server';

import { recordProbes, untilProbesAreUp } from '../../trial-probes.ts';
import { median, quantile, type Figure } from '../goals.ts';
import { end, startWorker } from '../load/processes.ts';
import { outcomeOf, startCheck, startCoordinator } from './service.ts';

const LOOPS = new URL('loops-worker.ts', import.meta.url);
const FLOOD = new URL('flood-worker.ts', import.meta.url);
const PROBES = 5;
const A_SECOND = 250;
const SECONDS = 12;
const HEADER_BYTES = 7_000;
const LASTS_MS = 100;
const STOLEN = 20;

/**
 * Results of honest agents in a burst: http checks with long headers at five agents, alone and next to twenty stolen
 * agents that send results without end. A check that is refused at once because its probe is busy does not count as
 * failed.
 */
export async function burst(redis: RedisServer, quick: boolean): Promise<readonly Figure[]> {
  const probes = Array.from({ length: PROBES }, (_, index) => `honest-${index}`);
  await recordProbes(redis.url, probes);
  const coordinator = await startCoordinator(redis);
  const { url } = coordinator;
  const loops = await startWorker(LOOPS, [
    redis.url,
    url,
    'honest',
    String(PROBES),
    String(LASTS_MS),
    String(HEADER_BYTES),
  ]);
  let flood: Awaited<ReturnType<typeof startWorker>> | undefined;
  try {
    await untilProbesAreUp(url, PROBES);
    const seconds = quick ? SECONDS / 4 : SECONDS;
    // The first checks compile schemas and code.
    await run(url, probes, 1);
    const alone = figuresOf('alone', await run(url, probes, seconds));
    const thieves = Array.from({ length: STOLEN }, (_, index) => `stolen-${index}`);
    await recordProbes(redis.url, thieves);
    flood = await startWorker(FLOOD, [redis.url, url, 'stolen', String(STOLEN)], ['nice', '-n', '19']);
    return [...alone, ...figuresOf(`next to ${STOLEN} stolen agents`, await run(url, probes, seconds))];
  } finally {
    if (flood !== undefined) await end(flood.child);
    await end(loops.child);
    await coordinator.stop();
  }
}

interface Outcome {
  readonly is: string;
  readonly ms: number;
}

async function run(url: string, probes: readonly string[], seconds: number): Promise<readonly Outcome[]> {
  const outcomes: Promise<Outcome>[] = [];
  const begin = performance.now();
  while (outcomes.length < A_SECOND * seconds) {
    const due = Math.min(A_SECOND * seconds, ((performance.now() - begin) / 1_000) * A_SECOND);
    while (outcomes.length < due) outcomes.push(check(url, probes[outcomes.length % probes.length]!));
    await sleep(5);
  }
  return Promise.all(outcomes);
}

async function check(url: string, probe: string): Promise<Outcome> {
  const begin = performance.now();
  const is = await startCheck(url, probe, { type: 'http', host: 'http://127.0.0.1/' }).then(
    (id) => outcomeOf(url, id, probe),
    (error: unknown) => (String(error).includes('503') ? 'refused' : String(error)),
  );
  return { is, ms: performance.now() - begin };
}

function figuresOf(where: string, outcomes: readonly Outcome[]): readonly Figure[] {
  const counts = Map.groupBy(outcomes, ({ is }) => is);
  const successes = (counts.get('success') ?? []).map(({ ms }) => ms);
  const refused = counts.get('refused')?.length ?? 0;
  const name = (what: string): string => `${A_SECOND} http checks a second at ${PROBES} agents, ${where}: ${what}`;
  const others = [...counts].map(([is, { length }]) => `${is} ${length}`).join(', ');
  return [
    {
      name: name('accepted and not successful'),
      value: outcomes.length - successes.length - refused,
      unit: 'checks',
      atMost: 0,
      comparison: others,
    },
    {
      name: name('successful'),
      value: (successes.length / outcomes.length) * 100,
      unit: '%',
      atLeast: 90,
      comparison: `p50 ${(median(successes) / 1_000).toFixed(2)} s, p99 ${(quantile(successes, 0.99) / 1_000).toFixed(2)} s`,
    },
  ];
}
