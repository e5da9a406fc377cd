import { setTimeout as sleep } from 'node:timers/promises';

import type { LoadReport } from '@vantage/load';

import type { Figure } from '../goals.ts';
import { generate, evaluateRate, sum } from './generate.ts';
import { countCpu } from './processes.ts';
import { PER_CHECK, type Lengths, type Stage } from './stage.ts';

/** Share of the rate that held briefly, with which the long run begins. */
const MARGIN = 0.9;
const LONG_TRIES = 5;
/** Pause after a rate that failed, so that its leftovers do not affect the next one. */
export const AFTER_FAILURE_MS = 5_000;

export interface Held {
  readonly figures: readonly Figure[];
  /** The highest rate that held briefly, or the lower bound of the search if none did. */
  readonly found: number;
  /** Probe runs per second that were held for long; 0 if no rate was. */
  readonly perSecond: number;
  /** CPU of Redis, coordinators and agents per probe run, µs. */
  readonly cpuUs: number;
}

/**
 * Holds a rate for `holdSeconds`: first `MARGIN` of the found one, after each failure a fifth less, `LONG_TRIES` rates
 * at most. If none holds, `perSecond` is 0.
 */
export async function hold(
  stage: Stage,
  { holdSeconds, warmUpSeconds }: Lengths,
  found: number,
  report: string | undefined,
): Promise<Held> {
  for (let rate = found * MARGIN, left = LONG_TRIES; ; rate *= 0.8, left -= 1) {
    const cpu = countCpu(stage.pids);
    const reports = await tryRate(stage, rate, { seconds: holdSeconds, warmUpSeconds }, report);
    const used = cpu();
    const verdict = evaluateRate(reports, rate);
    process.stderr.write(`  ${verdict.holds ? 'held' : 'not held'} for ${holdSeconds} s: ${verdict.why}\n`);
    if (!verdict.holds && left > 1) {
      await sleep(AFTER_FAILURE_MS);
      continue;
    }
    const perSecond = sum(reports, (one) => one.perSecond.probeRuns);
    const runs = perSecond * (holdSeconds + warmUpSeconds);
    const perRun = (ms: number): number => (ms / runs) * 1_000;
    const { dispatch, post, completion } = reports[0]!.times;
    const all = used.redis + used.coordinators + used.agents;
    return {
      found,
      perSecond: verdict.holds ? perSecond : 0,
      cpuUs: perRun(all),
      figures: [
        {
          name: `probe-runs a second held for ${holdSeconds} s`,
          value: verdict.holds ? perSecond : 0,
          unit: '1/s',
          comparison: verdict.why,
        },
        {
          name: 'dispatch p99 at it',
          value: dispatch.p99,
          unit: 'ms',
          atMost: 250,
          comparison: `p50 ${dispatch.p50.toFixed(1)}`,
        },
        { name: 'POST p99 at it', value: post.p99, unit: 'ms', comparison: `p50 ${post.p50.toFixed(1)}` },
        {
          name: 'completion p99 at it',
          value: completion.p99,
          unit: 'ms',
          comparison: `p50 ${completion.p50.toFixed(1)}`,
        },
        { name: 'CPU of Redis per probe-run', value: perRun(used.redis), unit: 'µs' },
        { name: 'CPU of the coordinator per probe-run', value: perRun(used.coordinators), unit: 'µs' },
        { name: 'CPU of the agents per probe-run', value: perRun(used.agents), unit: 'µs' },
        {
          name: 'CPU of the generator per probe-run',
          value: perRun(sum(reports, (one) => one.generatorCpuMs)),
          unit: 'µs',
        },
        { name: 'CPU of all three per probe-run', value: perRun(all), unit: 'µs' },
      ],
    };
  }
}

/** Applies a rate of probe runs per second to all coordinators together; returns the reports of the generators. */
export async function tryRate(
  { urls }: Stage,
  rate: number,
  times: { readonly seconds: number; readonly warmUpSeconds: number },
  report?: string,
): Promise<readonly LoadReport[]> {
  return Promise.all(
    urls.map((url, index) =>
      generate({
        url,
        rate: rate / PER_CHECK / urls.length,
        probes: PER_CHECK,
        seed: index + 1,
        ...times,
        report: index === 0 ? report : undefined,
      }),
    ),
  );
}
