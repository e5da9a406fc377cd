import { setTimeout as sleep } from 'node:timers/promises';

import { createClient, type Client } from '@vantage/client';

import { median, quantile, type Figure } from '../goals.ts';
import { createLeanFetch } from '../overhead/lean-fetch.ts';
import { countCpu } from './processes.ts';
import { redisInfo } from './redis-info.ts';
import { onStage, PER_CHECK, PROBES, type Stage } from './stage.ts';

/** Number of completed checks in the service to compare with. */
const FEW = 100;
/** Number of completed checks in the measured service. */
const MANY = 10_000;
const ROUNDS = 7;
const READS = 1_000;
const AT_ONCE = 8;
const IDLE_MS = 10_000;

/** A service, and the ids of its completed checks. */
interface Keeper {
  readonly stage: Stage;
  readonly client: Client;
  readonly ids: readonly string[];
}

/**
 * CPU of a read, memory and idle work of a service that keeps many completed checks, in comparison with one that keeps
 * few.
 */
export async function keptChecks(): Promise<readonly Figure[]> {
  const lean = createLeanFetch();
  const options = { probes: PROBES, agents: 'simulated', lastsMs: 1 } as const;
  return onStage(options, (few) => onStage(options, (many) => compare(few, many, lean.fetch))).finally(lean.close);
}

async function compare(fewStage: Stage, manyStage: Stage, fetch: typeof globalThis.fetch): Promise<readonly Figure[]> {
  const few = await keep(fewStage, FEW, fetch);
  const before = await memoryOf(manyStage);
  const many = await keep(manyStage, MANY, fetch);
  await sleep(5_000);
  const perCheck = ((await memoryOf(manyStage)) - before) / MANY / 1_024;
  const idle = await idleShare(many.stage);
  for (const keeper of [few, many]) await read(keeper);
  const rounds: { readonly few: Read; readonly many: Read }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push({ few: await read(few), many: await read(many) });
  const shares = rounds.map((round) => round.many.cpuMs / round.few.cpuMs);
  const each = (value: (round: Read) => number): number => median(rounds.map((round) => value(round.many)));
  const name = (what: string): string => `${MANY} kept checks: ${what}`;
  return [
    { name: name('memory of Redis for each'), value: perCheck, unit: 'KiB', comparison: `${PER_CHECK} probes a check` },
    { name: name('CPU of an idle coordinator'), value: idle.coordinators, unit: '% of a core' },
    { name: name('CPU of an idle Redis'), value: idle.redis, unit: '% of a core' },
    { name: name('CPU of coordinator and Redis to read one'), value: each(({ cpuMs }) => cpuMs), unit: 'ms' },
    {
      name: name(`CPU of coordinator and Redis to read one, with ${FEW} kept = 1`),
      value: median(shares),
      unit: '',
      atMost: 1.2,
      comparison: `median of ${shares.map((share) => share.toFixed(2)).join(', ')}`,
    },
    {
      name: name('p50 of a read, 8 at a time'),
      value: each(({ p50 }) => p50),
      unit: 'ms',
      comparison: `${median(rounds.map((round) => round.few.p50)).toFixed(2)} ms with ${FEW}`,
    },
  ];
}

/** Posts checks until this many are completed. A refused one is repeated after a pause. */
async function keep(stage: Stage, count: number, fetch: typeof globalThis.fetch): Promise<Keeper> {
  const client = createClient({ baseUrl: stage.urls[0]!, fetch });
  const ids: string[] = [];
  let left = count;
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const id = await complete(client);
      if (id === undefined) left += 1;
      else ids.push(id);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return { stage, client, ids };
}

/** @returns the id of a check that was completed; undefined if a request fails, or if it takes longer than 20 s */
async function complete(client: Client): Promise<string | undefined> {
  try {
    const { checkId } = await client.startCheck({ type: 'tcp', host: '127.0.0.1', port: 80, limit: PER_CHECK });
    const { status } = await client.results(checkId, { waitSeconds: 20 });
    return status === 'completed' ? checkId : undefined;
  } catch {
    await sleep(200);
    return undefined;
  }
}

interface Read {
  readonly cpuMs: number;
  readonly p50: number;
}

/** Reads kept checks, evenly spread over all. */
async function read({ stage, client, ids }: Keeper): Promise<Read> {
  const { coordinators, redis } = stage.pids;
  const cpu = countCpu({ both: [...coordinators, ...redis] });
  const times: number[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < READS) {
      const id = ids[Math.floor((next++ / READS) * ids.length)]!;
      const begun = performance.now();
      await client.results(id);
      times.push(performance.now() - begun);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return { cpuMs: cpu().both / READS, p50: quantile(times, 0.5) };
}

async function memoryOf({ redisPort }: Stage): Promise<number> {
  return (await redisInfo(redisPort))('used_memory');
}

/** Shares of a core that idle processes use, percent. */
async function idleShare({ pids }: Stage): Promise<Readonly<Record<'coordinators' | 'redis', number>>> {
  const cpu = countCpu({ coordinators: pids.coordinators, redis: pids.redis });
  await sleep(IDLE_MS);
  const { coordinators, redis } = cpu();
  return { coordinators: (coordinators / IDLE_MS) * 100, redis: (redis / IDLE_MS) * 100 };
}
