import { redisKeys } from '@vantage/contract';
import { Redis } from 'ioredis';

import { quantile } from '../goals.ts';

/** Outcomes of the ticks that were due in a period. */
export interface Ticks {
  readonly due: number;
  /** Due ticks without a check of which a probe received a job. */
  readonly lost: number;
  /** Due ticks with more than one check, or with more jobs than probes. */
  readonly doubled: number;
  /** Delay of the first job of each tick at a probe after the tick was due, milliseconds. */
  readonly firstMs: readonly number[];
  /** Delay of the last job of each tick at a probe after the tick was due, milliseconds. */
  readonly lastMs: readonly number[];
}

interface StoredRun {
  readonly atMs: number;
  readonly checkId: string | null;
}

type Starts = readonly (readonly [id: string, atMs: number])[];

/**
 * Compares the runs in Redis with the jobs that probes received.
 *
 * @param from start of the period; like `to`, by the clock of this machine, which Redis shares
 */
export async function readTicks(
  redisPort: number,
  names: readonly string[],
  starts: Starts,
  { from, to, everyMs, probes }: Readonly<Record<'from' | 'to' | 'everyMs' | 'probes', number>>,
): Promise<Ticks> {
  const redis = new Redis(redisPort);
  const texts = await Promise.all(names.map((name) => redis.lrange(redisKeys.monitorRuns(name), 0, 60)));
  redis.disconnect();
  const byCheck = new Map<string, number[]>();
  for (const [id, atMs] of starts) byCheck.set(id, [...(byCheck.get(id) ?? []), atMs]);
  let [due, lost, doubled] = [0, 0, 0];
  const [firstMs, lastMs]: [number[], number[]] = [[], []];
  for (const list of texts) {
    const runs = list.map((text) => JSON.parse(text) as StoredRun);
    // All times of a monitor are equal modulo its interval.
    const phase = (runs[0]?.atMs ?? from) % everyMs;
    for (let at = from + ((((phase - from) % everyMs) + everyMs) % everyMs); at < to; at += everyMs) {
      due += 1;
      const ofTime = [...new Set(runs.filter(({ atMs }) => atMs === at).map(({ checkId }) => checkId))];
      const jobs = byCheck.get(ofTime[0] ?? '') ?? [];
      if (jobs.length === 0) lost += 1;
      if (ofTime.length > 1 || jobs.length > probes) doubled += 1;
      if (jobs.length === 0) continue;
      firstMs.push(Math.min(...jobs) - at);
      lastMs.push(Math.max(...jobs) - at);
    }
  }
  return { due, lost, doubled, firstMs, lastMs };
}

export function describeDelays(delaysMs: readonly number[]): string {
  const [p50, most] = [quantile(delaysMs, 0.5), Math.max(...delaysMs)];
  return `median ${Math.round(p50)} ms, longest ${Math.round(most)} ms, of ${delaysMs.length}`;
}
