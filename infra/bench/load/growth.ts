import { setTimeout as sleep } from 'node:timers/promises';

import { median, type Figure } from '../goals.ts';
import { forgetChecks } from './forget-checks.ts';
import { postFor } from './post.ts';
import { cpuMs } from './processes.ts';
import { onStage, type Stage } from './stage.ts';

const COUNTS = [10, 1_000, 10_000] as const;
const WARM_UPS = 2;
const ROUNDS = 5;
/** Several seconds, because a coordinator refreshes the known probes once a second. */
const QUIET_SECONDS = 4;
/** POSTs of a round: too few to fill the job queues of ten probes without agents, after which checks are refused. */
const POSTS = 400;
/** Rate of the POSTs, so that those of all services take equally long. */
const PER_SECOND = 100;
/** Longest time for the POSTs of a round on a busy machine. */
const AT_MOST_SECONDS = 60;
/** Least duration of a round: longer than the deadline of an http check, 15 s. */
const ROUND_MS = 16_000;
/** Request body with two locations, which match one sixteenth of the probes and all of them. */
const BODY = JSON.stringify({
  type: 'http',
  host: 'http://127.0.0.1/',
  limit: 5,
  locations: ['AS64497+QM', 'trial'],
});

/** CPU per POST with `locations`, of coordinators with few probes and with many. */
export async function growth(): Promise<readonly Figure[]> {
  return withStages(COUNTS, [], async (stages) => {
    // Warm-up: V8 compiles the code before the first measured round.
    for (let round = 0; round < WARM_UPS; round += 1) {
      await Promise.all([sleep(ROUND_MS), inTurns(stages)]);
    }
    const rounds: (readonly Measured[])[] = [];
    // Compared within a round, because the speed of the machine varies.
    for (let round = 0; round < ROUNDS; round += 1) {
      const [measured] = await Promise.all([inTurns(stages), sleep(ROUND_MS)]);
      rounds.push(measured);
    }
    return COUNTS.flatMap((count, index): readonly Figure[] => {
      const name = `${count} known probes: CPU of a POST with locations`;
      const value = median(rounds.map((round) => round[index]!.postUs));
      const shares = rounds.map((round) => round[index]!.postUs / round[0]!.postUs);
      const [idle, waiting] = (['idleShare', 'waitingShare'] as const).map((share) =>
        median(rounds.map((round) => round[index]![share])),
      ) as [number, number];
      const comparison = `median of ${shares.map((share) => share.toFixed(2)).join(', ')}`;
      return [
        { name, value, unit: 'µs' },
        ...(index === 0
          ? []
          : [{ name: `${name}, with 10 = 1`, value: median(shares), unit: '', atMost: 1.2, comparison }]),
        { name: `${count} known probes: CPU of an idle coordinator`, value: idle * 100, unit: '% of a core' },
        {
          name: `${count} known probes: CPU of a coordinator whose probes have waiting jobs`,
          value: waiting * 100,
          unit: '% of a core',
        },
      ];
    });
  });
}

interface Measured {
  /** CPU of a POST without what the coordinator uses each second for the probes that have jobs. */
  readonly postUs: number;
  /**
   * CPU of a coordinator without requests, as a share of a core: `idleShare` without jobs, `waitingShare` with jobs
   * that no agent takes.
   */
  readonly idleShare: number;
  readonly waitingShare: number;
}

async function withStages<T>(
  counts: readonly number[],
  stages: readonly Stage[],
  use: (stages: readonly Stage[]) => Promise<T>,
): Promise<T> {
  const [count, ...others] = counts;
  if (count === undefined) return use(stages);
  return onStage({ probes: count, agents: 'none' }, (stage) => withStages(others, [...stages, stage], use));
}

async function inTurns(stages: readonly Stage[]): Promise<readonly Measured[]> {
  const measured: Measured[] = [];
  for (const stage of stages) measured.push(await measure(stage));
  return measured;
}

async function measure(stage: Stage): Promise<Measured> {
  const pid = pidOf(stage);
  // Removes untaken jobs, which would accumulate.
  await forgetChecks(stage.redisPort);
  await sleep(1_500);
  const idleShare = await shareOfCore(pid);
  const posting = performance.now();
  const posts = { body: BODY, most: POSTS, perSecond: PER_SECOND };
  const { times, cpuMs: used } = await postFor(stage.urls[0]!, pid, AT_MOST_SECONDS, posts);
  const postingMs = performance.now() - posting;
  const waitingShare = await shareOfCore(pid);
  return { postUs: ((used - waitingShare * postingMs) / times.length) * 1_000, idleShare, waitingShare };
}

/** CPU of a process that gets no requests, as a share of a core. */
async function shareOfCore(pid: number): Promise<number> {
  const [before, begin] = [cpuMs(pid), performance.now()];
  await sleep(QUIET_SECONDS * 1_000);
  return (cpuMs(pid) - before) / (performance.now() - begin);
}

function pidOf({ pids }: Stage): number {
  return pids.coordinators[0]!;
}
