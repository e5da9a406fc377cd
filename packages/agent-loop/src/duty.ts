import { hasAnswered } from '@vantage/redis-connections';
import type { Logger } from 'pino';

import { createHeartbeat, type HeartbeatParts, type HeartbeatWriter } from './heartbeat.ts';
import { createJobLoop, type JobLoop } from './job-loop.ts';
import type { Work } from './job-runner.ts';
import { watchLeftovers, type LeftoverWatch } from './leftover-watch.ts';
import { createLiveness, type Liveness } from './liveness.ts';
import type { ProbeQueue } from './probe-queue.ts';
import type { RedisLink } from './redis-link.ts';
import { createRunningJobs } from './running-jobs.ts';
import { watchWithdrawals, type WithdrawalWatch } from './withdrawal-watch.ts';
import { heartbeatKey } from './wire.ts';

/** The parts of an agent that need a usable Redis: the job loop, its watches and the heartbeats that report them. */
export interface Duty {
  readonly loop: JobLoop;
  readonly liveness: Liveness;
  readonly heartbeat: HeartbeatWriter;
  readonly leftovers: LeftoverWatch;
  readonly withdrawals: WithdrawalWatch;
  /** Reads the clock of Redis. Never rejects. */
  readonly readClock: () => Promise<void>;
}

export interface DutyOptions {
  readonly probeId: string;
  readonly concurrency: number;
  /** Changes with every start of the agent. */
  readonly instance: string;
  /** Aborted when running jobs must end. */
  readonly interrupted: AbortSignal;
  readonly isDraining: () => boolean;
  readonly onHopeless?: (() => void) | undefined;
  readonly log: Logger;
}

export function createDuty(link: RedisLink, queue: ProbeQueue, work: Work, options: DutyOptions): Duty {
  const { concurrency, interrupted, log } = options;
  const { resultsRedis, results, clock } = link;
  const running = createRunningJobs(interrupted, log);
  const loop = createJobLoop({
    source: queue,
    concurrency,
    rttMs: clock.rttMs,
    isExempt: (job) => work.isExempt(job.id),
    run: (job) => running.run(job.id, (signal) => work.run(job, job.id, signal)),
    onOddWait: () => void readClock(),
    log,
  });
  const liveness = createLiveness({
    turns: loop.turns,
    isFull: loop.isFull,
    isConnected: () => hasAnswered(resultsRedis),
    reconnect: link.reconnect,
    giveUp: () => options.onHopeless?.(),
    log,
  });
  const heartbeat = createHeartbeat({
    instance: options.instance,
    describe: () => describe(loop, [...reasonsOf(loop, liveness), link.losses.reason() ?? []].flat(), work, options),
    ...heartbeatKey(options.probeId, resultsRedis),
    log,
  });
  const readClock = async (): Promise<void> => {
    // After a step of its clock, Redis would expire the last heartbeat too early or too late: another one replaces it.
    if (await clock.refresh()) await heartbeat.beat();
  };
  const { knows, adopt } = loop;
  const { wasWithdrawn } = running;
  const polled = { queue, knows, adopt, wasWithdrawn, isCheckId: work.isCheckId, outlet: results, now: clock.now, log };
  return {
    loop,
    liveness,
    heartbeat,
    leftovers: watchLeftovers(polled, link),
    withdrawals: watchWithdrawals({ queue, running, link }),
    readClock,
  };
}

function describe(
  loop: JobLoop,
  reasons: readonly string[],
  work: Work,
  { concurrency, isDraining }: DutyOptions,
): ReturnType<HeartbeatParts['describe']> {
  const { degraded, ...rest } = work.describe();
  return {
    ...rest,
    degraded: [...reasons, ...degraded],
    load: { running: loop.running(), capacity: concurrency },
    taken: loop.taken(),
    draining: isDraining(),
  };
}

function reasonsOf({ refusal }: JobLoop, { reason }: Liveness): readonly string[] {
  const refused = refusal();
  if (refused !== undefined) return [`It takes no jobs: Redis refuses its commands (${refused}).`];
  const why = reason();
  return why === undefined ? [] : [why];
}
