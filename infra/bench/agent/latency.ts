import { setTimeout as sleep } from 'node:timers/promises';

import { quantile, type Figure } from '../goals.ts';
import type { Stage } from './stage.ts';

/** Checks per second. */
const RATES = [20, 100, 150, 200, 300];
const GOAL_MS = 8;

/** Time from the POST of a tcp check to the response of a waiting reader, at constant rates on one probe. */
export async function latencies(stage: Stage, seconds: number): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const rate of RATES) {
    const all = await latenciesAt(stage, rate, rate * seconds);
    // A check that was refused or could not be read counts as the highest latency.
    const times = all.map((time) => time ?? Infinity);
    const [p90, p99] = [quantile(times, 0.9).toFixed(1), quantile(times, 0.99).toFixed(1)];
    const refused = all.filter((time) => time === undefined).length;
    const comparison = `p90 ${p90} ms, p99 ${p99} ms, ${refused} of ${all.length} refused`;
    const name = `POST to completed at ${rate} a second, p50`;
    figures.push({ name, value: quantile(times, 0.5), unit: 'ms', atMost: GOAL_MS, comparison });
  }
  return figures;
}

async function latenciesAt(
  { deployment, checks }: Stage,
  rate: number,
  count: number,
): Promise<readonly (number | undefined)[]> {
  const { client } = deployment;
  const { request } = checks[0]!;
  const warmUp = rate;
  const started = performance.now();
  const run = async (): Promise<number> => {
    const posted = performance.now();
    const { checkId } = await client.startCheck(request);
    await client.results(checkId, { waitSeconds: 20 });
    return performance.now() - posted;
  };
  const runs: Promise<number | undefined>[] = [];
  for (let sent = 0; sent < warmUp + count; sent += 1) {
    const due = started + (sent * 1_000) / rate;
    if (due > performance.now()) await sleep(due - performance.now());
    runs.push(run().catch(() => undefined));
  }
  return (await Promise.all(runs)).slice(warmUp);
}
