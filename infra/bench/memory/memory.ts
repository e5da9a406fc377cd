import { setTimeout as sleep } from 'node:timers/promises';

import type { Progress } from '../../command/progress.ts';
import type { Figure } from '../goals.ts';
import { treeMemory, type Memory } from '../agent/processes.ts';
import { onService, type Service } from '../agent/stage.ts';

const CHECKS = 5_000;
const CALLERS = 4;
const SETTLE_MS = 10_000;
const LIGHT_EVERY_MS = 1_000;
const SAMPLE_EVERY_MS = 60_000;
const SHOWN_SAMPLES = 6;
const GOALS = { agentRss: 150, agentPss: 100, coordinatorRss: 150, growthPerHour: 5 };

/**
 * Memory of the built agent with its packet process and of the coordinator: idle, and after 5,000 checks of four types.
 * Each of four clients waits for a result before its next check, so that the speed of the machine does not change the
 * figures. With `minutes` the checks go on for that time, one a second, and the growth per hour is estimated from the
 * second half.
 */
export async function memory(minutes: number, progress: Progress): Promise<readonly Figure[]> {
  return onService(async (service) => {
    await sleep(SETTLE_MS);
    const figures = [...show(measure(service), 'idle', {})];
    let done = 0;
    let succeeded = 0;
    const call = async (): Promise<void> => {
      while (done < CHECKS) {
        if (await check(service, done++)) succeeded += 1;
        if (done % 100 === 0) progress.step(`${done} of ${CHECKS} checks`);
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, call));
    figures.push(...show(measure(service), `after ${CHECKS} checks`, GOALS));
    figures.push({ name: 'checks that succeeded', value: (succeeded / done) * 100, unit: '%', atLeast: 99 });
    return minutes === 0 ? figures : [...figures, ...(await growth(service, minutes, progress))];
  });
}

interface Sample {
  readonly agent: Memory;
  readonly coordinator: Memory;
}

function measure({ deployment: { pids } }: Service): Sample {
  return { agent: treeMemory(pids.agents[0]!), coordinator: treeMemory(pids.coordinator) };
}

function show({ agent, coordinator }: Sample, when: string, goals: Partial<typeof GOALS>): readonly Figure[] {
  const figure = (name: string, value: number, atMost: number | undefined): Figure => ({
    name: `${name}, ${when}`,
    value,
    unit: 'MiB',
    ...(atMost === undefined ? {} : { atMost }),
  });
  return [
    figure('RSS of agent and packet process', agent.rssMiB, goals.agentRss),
    figure('PSS of agent and packet process', agent.pssMiB, goals.agentPss),
    figure('RSS of the coordinator', coordinator.rssMiB, goals.coordinatorRss),
  ];
}

/** Runs one check. A refused one does not count as a success, and is followed by a pause. */
async function check({ deployment: { client }, checks }: Service, index: number): Promise<boolean> {
  try {
    const { checkId } = await client.startCheck(checks[index % checks.length]!.request);
    const { results } = await client.results(checkId, { waitSeconds: 20 });
    return Object.values(results).every((result) => result?.result === 'success');
  } catch {
    await sleep(200);
    return false;
  }
}

async function growth(service: Service, minutes: number, progress: Progress): Promise<readonly Figure[]> {
  const samples: Sample[] = [];
  const started = performance.now();
  for (let index = 0; performance.now() - started < minutes * 60_000; index += 1) {
    if (performance.now() - started >= samples.length * SAMPLE_EVERY_MS) samples.push(measure(service));
    progress.step(`minute ${samples.length} of ${minutes}`);
    await Promise.all([check(service, index), sleep(LIGHT_EVERY_MS)]);
  }
  samples.push(measure(service));
  const half = samples.slice(Math.floor(samples.length / 2));
  const perHour = (value: (sample: Sample) => number): number => slope(half.map(value)) * 60;
  const name = `${minutes} minutes of a check a second`;
  const grown = (program: string, value: number): Figure => ({
    name: `growth of ${program} in the second half of ${name}`,
    value,
    unit: 'MiB an hour',
    atMost: GOALS.growthPerHour,
  });
  const shown = samples.filter((_, index) => index > 0 && index % Math.ceil(minutes / SHOWN_SAMPLES) === 0);
  return [
    ...shown.flatMap((sample) => show(sample, `at minute ${samples.indexOf(sample)}`, {})),
    ...show(samples.at(-1)!, `after ${name}`, GOALS),
    grown(
      'the agent (PSS)',
      perHour(({ agent }) => agent.pssMiB),
    ),
    grown(
      'the coordinator (RSS)',
      perHour(({ coordinator }) => coordinator.rssMiB),
    ),
  ];
}

/** Slope of the least-squares line, per step. */
function slope(values: readonly number[]): number {
  const mean = (numbers: readonly number[]): number => numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
  const steps = values.map((_, step) => step);
  const [middle, level] = [mean(steps), mean(values)];
  const covariance = mean(steps.map((step) => (step - middle) * (values[step]! - level)));
  return covariance / mean(steps.map((step) => (step - middle) ** 2));
}
