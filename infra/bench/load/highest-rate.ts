import { setTimeout as sleep } from 'node:timers/promises';

import type { LoadReport } from '@vantage/load';

import type { Figure } from '../goals.ts';
import { generate, judge, sum } from './generate.ts';
import { countCpu } from './processes.ts';
import { onStage, PER_CHECK, PROBES, type Lengths, type Stage } from './stage.ts';

/**
 * Probe-runs a second that are tried: up by a quarter while they hold, or down until one does, then between the last that held
 * and the next.
 */
const FIRST_TRY = 600;
const LOWEST_TRY = 50;
const HIGHEST_TRY = 6_000;
const STEP = 1.25;
const FINER_TRIES = 2;
/** Of what was held for a short time, what is held for long. */
const MARGIN = 0.9;
const LONG_TRIES = 5;
/** What a rate that failed has left behind is not the next one's. */
const AFTER_FAILURE_MS = 5_000;
/** Share of the highest rate, at which no process waits for a core. */
const COMPARED_AT = 0.5;

/**
 * Finds the highest rate that holds for a short time, holds it for long, and looks what a second coordinator changes.
 *
 * @param report folder in which the report of the longest run is kept
 */
export async function highestRate(lengths: Lengths, report: string | undefined): Promise<readonly Figure[]> {
  return onStage({ probes: PROBES, agents: 'simulated' }, async (stage) => {
    const alone = await hold(stage, lengths, (await search(stage, lengths)) || LOWEST_TRY, report);
    const rate = alone.found * COMPARED_AT;
    const one = await coordinatorCpu(stage, rate, lengths);
    await stage.addCoordinator();
    const both = await coordinatorCpu(stage, rate, lengths);
    const two = await search(stage, lengths);
    return [
      ...alone.figures,
      {
        ...{
          name: 'two coordinators instead of one, on these cores',
          value: two / alone.found,
          unit: 'times the rate',
        },
        comparison: `${two.toFixed(0)} probe-runs/s for a short time, ${alone.found.toFixed(0)} with one`,
      },
      {
        // A coordinator is one thread: with a core for each, its CPU time is what bounds it.
        ...{
          name: 'two coordinators instead of one, by their CPU time',
          value: (2 * one) / both,
          unit: 'times the rate',
        },
        comparison: `${both.toFixed(0)} µs a probe-run, ${one.toFixed(0)} with one, at ${rate.toFixed(0)} probe-runs/s`,
      },
    ];
  });
}

/** Probe-runs a second on some coordinators, and the reports of their generators. */
async function tryRate(
  { urls }: Stage,
  rate: number,
  times: { readonly seconds: number; readonly warmUpSeconds: number },
  report?: string,
): Promise<readonly LoadReport[]> {
  return Promise.all(
    urls.map((url, index) =>
      generate({
        ...{ url, rate: rate / PER_CHECK / urls.length, probes: PER_CHECK, seed: index + 1, ...times },
        report: index === 0 ? report : undefined,
      }),
    ),
  );
}

/** The highest rate that holds for a short time; 0 where not even the lowest does. */
async function search(stage: Stage, { trySeconds, warmUpSeconds }: Lengths): Promise<number> {
  const holds = async (rate: number): Promise<boolean> => {
    const reports = await tryRate(stage, rate, { seconds: trySeconds, warmUpSeconds });
    const verdict = judge(reports, rate);
    process.stderr.write(`  ${verdict.holds ? 'holds' : 'fails'}: ${verdict.why}\n`);
    if (!verdict.holds) await sleep(AFTER_FAILURE_MS);
    return verdict.holds;
  };
  let held = 0;
  let failed = Infinity;
  for (let rate = FIRST_TRY; rate >= LOWEST_TRY && rate <= HIGHEST_TRY;) {
    if (await holds(rate)) held = rate;
    else failed = rate;
    // Up from the first as long as it holds; down from it until one does.
    if (held > 0 && failed < Infinity) break;
    rate = held > 0 ? rate * STEP : rate / STEP;
  }
  // Where the highest that is tried holds, nothing is between it and one that fails.
  for (let finer = 0; finer < FINER_TRIES && held > 0 && failed < Infinity; finer += 1) {
    const middle = (held + failed) / 2;
    if (await holds(middle)) held = middle;
    else failed = middle;
  }
  return held;
}

/** What the coordinators take for a probe-run together, µs. */
async function coordinatorCpu(
  stage: Stage,
  rate: number,
  { trySeconds: seconds, warmUpSeconds }: Lengths,
): Promise<number> {
  const cpu = countCpu({ coordinators: stage.pids.coordinators });
  const reports = await tryRate(stage, rate, { seconds, warmUpSeconds });
  const runs = sum(reports, ({ perSecond }) => perSecond.probeRuns) * (seconds + warmUpSeconds);
  return (cpu().coordinators / runs) * 1_000;
}

/** Holds a rate for long; where it does not, a fifth less, some times. */
async function hold(
  stage: Stage,
  { holdSeconds, warmUpSeconds }: Lengths,
  found: number,
  report: string | undefined,
): Promise<{ readonly figures: readonly Figure[]; readonly found: number }> {
  for (let rate = found * MARGIN, left = LONG_TRIES; ; rate *= 0.8, left -= 1) {
    const cpu = countCpu(stage.pids);
    const reports = await tryRate(stage, rate, { seconds: holdSeconds, warmUpSeconds }, report);
    const used = cpu();
    const verdict = judge(reports, rate);
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
      figures: [
        {
          ...{ name: `probe-runs a second held for ${holdSeconds} s`, value: verdict.holds ? perSecond : 0 },
          ...{ unit: '1/s', atLeast: 1_000, comparison: verdict.why },
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
        { name: 'CPU of Redis per probe-run', value: perRun(used.redis), unit: 'µs', atMost: 250 },
        { name: 'CPU of the coordinator per probe-run', value: perRun(used.coordinators), unit: 'µs' },
        { name: 'CPU of the agents per probe-run', value: perRun(used.agents), unit: 'µs' },
        {
          name: 'CPU of the generator per probe-run',
          value: perRun(sum(reports, (one) => one.generatorCpuMs)),
          unit: 'µs',
        },
        { name: 'CPU of all three per probe-run', value: perRun(all), unit: 'µs', atMost: 1_000 },
      ],
    };
  }
}
