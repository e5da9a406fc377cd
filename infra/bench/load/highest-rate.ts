import { setTimeout as sleep } from 'node:timers/promises';

import type { Figure } from '../goals.ts';
import { bareQueue } from './bare-queue.ts';
import { evaluateRate, sum } from './generate.ts';
import { AFTER_FAILURE_MS, hold, tryRate, type Held } from './hold-rate.ts';
import { countCpu } from './processes.ts';
import { onStage, PROBES, type Lengths, type Stage } from './stage.ts';

/**
 * First rate to try, probe runs per second. It is multiplied by `STEP` as long as a rate holds, or divided by it until
 * one holds, between `LOWEST_TRY` and `HIGHEST_TRY`. Then, `FINER_TRIES` times, the middle between the highest rate
 * that held and the lowest that failed is tried.
 */
const FIRST_TRY = 600;
const LOWEST_TRY = 50;
const HIGHEST_TRY = 6_000;
const STEP = 1.25;
const FINER_TRIES = 2;
/** Share of the highest rate at which no process waits for a core. */
const COMPARED_AT = 0.5;

/** Multiple of the highest rate that is tried as overload. */
const OVERLOAD = 1.1;
const JOB_MS = 20;

/**
 * Finds the highest rate that holds briefly, holds a part of it for long, and measures the effect of more load and of a
 * second coordinator; then the cost of the same jobs in a bare BullMQ on the same processors.
 *
 * @param report folder for the report of the longest run
 */
export async function highestRate(lengths: Lengths, report: string | undefined): Promise<readonly Figure[]> {
  const { figures, perSecond, cpuUs } = await service(lengths, report);
  const floor = await bareQueue(PROBES, JOB_MS, perSecond, lengths);
  return [
    ...figures,
    {
      name: 'probe-runs a second held, those at which a bare BullMQ saturates the processors = 1',
      unit: '×',
      value: perSecond / floor.saturatedAt,
      atLeast: 0.5,
      comparison: `bare: ${floor.saturatedAt.toFixed(0)} jobs/s, ${floor.lost} lost`,
    },
    {
      name: 'CPU of all three per probe-run, a job of a bare BullMQ = 1',
      unit: '×',
      value: cpuUs / floor.cpuUs,
      atMost: 2,
      comparison: `bare: ${floor.cpuUs.toFixed(0)} µs`,
    },
  ];
}

async function service(lengths: Lengths, report: string | undefined): Promise<Held> {
  return onStage({ probes: PROBES, agents: 'simulated', lastsMs: JOB_MS }, async (stage) => {
    const alone = await hold(stage, lengths, (await search(stage, lengths)) || LOWEST_TRY, report);
    const more = await overload(stage, lengths, alone.found);
    const rate = alone.found * COMPARED_AT;
    const one = await coordinatorCpu(stage, rate, lengths);
    await stage.addCoordinator();
    const both = await coordinatorCpu(stage, rate, lengths);
    const two = await search(stage, lengths);
    const figures = [
      ...alone.figures,
      more,
      {
        name: 'two coordinators instead of one, on these cores',
        value: two / alone.found,
        unit: 'times the rate',
        comparison: `${two.toFixed(0)} probe-runs/s for a short time, ${alone.found.toFixed(0)} with one`,
      },
      {
        // A coordinator is one thread: with a core for each, its CPU time is what bounds it.
        name: 'two coordinators instead of one, by their CPU time',
        value: (2 * one) / both,
        unit: 'times the rate',
        atLeast: 1.6,
        comparison: `${both.toFixed(0)} µs a probe-run, ${one.toFixed(0)} with one, at ${rate.toFixed(0)} probe-runs/s`,
      },
    ];
    return { ...alone, figures };
  });
}

/** Dispatch p99 above the highest rate: low only if the service refuses the excess early. */
async function overload(
  stage: Stage,
  { trySeconds: seconds, warmUpSeconds }: Lengths,
  highest: number,
): Promise<Figure> {
  const reports = await tryRate(stage, highest * OVERLOAD, { seconds, warmUpSeconds });
  await sleep(AFTER_FAILURE_MS);
  return {
    name: `dispatch p99 at ${OVERLOAD} times the highest rate`,
    unit: 'ms',
    atMost: 500,
    value: Math.max(...reports.map(({ times }) => times.dispatch.p99)),
    comparison: evaluateRate(reports, highest * OVERLOAD).why,
  };
}

/** The highest of the tried rates that holds for `trySeconds`, probe runs per second; 0 if none does. */
async function search(stage: Stage, { trySeconds, warmUpSeconds }: Lengths): Promise<number> {
  const holds = async (rate: number): Promise<boolean> => {
    const reports = await tryRate(stage, rate, { seconds: trySeconds, warmUpSeconds });
    const verdict = evaluateRate(reports, rate);
    process.stderr.write(`  ${verdict.holds ? 'holds' : 'fails'}: ${verdict.why}\n`);
    if (!verdict.holds) await sleep(AFTER_FAILURE_MS);
    return verdict.holds;
  };
  let held = 0;
  let failed = Infinity;
  for (let rate = FIRST_TRY; rate >= LOWEST_TRY && rate <= HIGHEST_TRY;) {
    if (await holds(rate)) held = rate;
    else failed = rate;
    // Ends once a rate held and another one failed; until then the rate goes on in the same direction.
    if (held > 0 && failed < Infinity) break;
    rate = held > 0 ? rate * STEP : rate / STEP;
  }
  // If even the highest rate held, there is no failed rate to search below.
  for (let finer = 0; finer < FINER_TRIES && held > 0 && failed < Infinity; finer += 1) {
    const middle = (held + failed) / 2;
    if (await holds(middle)) held = middle;
    else failed = middle;
  }
  return held;
}

/** CPU of all coordinators per probe run, µs. */
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
