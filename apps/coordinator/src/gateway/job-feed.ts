import { createFinisher } from '@vantage/agent-loop';
import { checkOfScreenshotJob } from '@vantage/contract';
import type { Log } from '../redis/log.ts';

import { isStoreFault } from '../redis/store.ts';
import type { ActiveJob, ProbeJobs, TakenJob } from './probe-jobs.ts';

/** Gives the jobs of a probe to one connection of its agent, never more at a time than the agent has slots. */
export interface JobFeed {
  /** There may be new jobs. */
  readonly wake: () => void;
  /** The agent has ended the job: its slot is free. */
  readonly release: (id: string) => void;
  /** The job and its result are settled: it leaves the queue. */
  readonly finish: (id: string) => void;
  /** Gives no more jobs. */
  readonly stop: () => void;
  readonly running: () => number;
  readonly taken: () => number;
  /** True if the agent has a job long after its deadline, and has ended none since. */
  readonly isStuck: () => boolean;
}

export interface JobFeedOptions {
  readonly jobs: ProbeJobs;
  readonly instance: string;
  /** Most jobs at a time; screenshots are not counted. */
  readonly credit: number;
  readonly give: (job: TakenJob) => void;
  /** Milliseconds until the deadline of a job. */
  readonly leftMs: (job: TakenJob) => Promise<number>;
  /** Monotonic. */
  readonly nowMs?: () => number;
  /** True while another connection of the probe holds this instance of its agent. */
  readonly isConnected: (instance: string) => Promise<boolean>;
  /** Reports a job whose agent is gone; rejects without Redis. */
  readonly interrupt: (id: string) => Promise<void>;
  readonly log: Log;
}

/** A look after this time finds jobs taken by a connection that has just been replaced. */
const LOOK_AGAIN_MS = 2_000;
const RETRY_MS = 500;
/** Jobs without `done` whose results came: beyond them the oldest leaves the queue without it. */
const MOST_ENDED = 1_000;
/** An agent gives up a result 5 s after the deadline, and then ends the job. */
const LATE_MS = 10_000;

export function createJobFeed(options: JobFeedOptions): JobFeed {
  const { jobs, instance, credit, give, leftMs, isConnected, interrupt, log } = options;
  const { nowMs = (): number => performance.now() } = options;
  /** Jobs that take a slot, with the time at which they are late. */
  const held = new Map<string, number>();
  let endedAtMs = Number.NEGATIVE_INFINITY;
  /** Jobs that the agent has ended and that are still in the queue. */
  const ended = new Set<string>();
  /** Jobs of agents that were not connected at the last look. */
  let orphans: ReadonlySet<string> = new Set();
  let isTaking = true;
  let isFirst = true;
  let isBusy = false;
  let again = false;
  let mustLook = true;
  /** False while the queue is empty, as far as this connection was notified. */
  let mayWait = true;
  let taken = 0;
  let timer: NodeJS.Timeout | undefined;

  const finisher = createFinisher<string>(async (ids) => {
    await jobs.discard(ids);
    for (const id of ids) ended.delete(id);
  }, log);

  const end = (id: string): void => {
    endedAtMs = nowMs();
    ended.add(id);
    if (ended.size <= MOST_ENDED) return;
    const [oldest = ''] = ended;
    ended.delete(oldest);
    finisher.add(oldest);
  };
  const room = (): number => credit - held.size;
  const hold = (job: TakenJob): void => {
    if (held.has(job.id) || ended.has(job.id)) return;
    if (checkOfScreenshotJob(job.id) === undefined) {
      held.set(job.id, Number.POSITIVE_INFINITY);
      leftMs(job).then(
        (left) => {
          if (held.has(job.id)) held.set(job.id, nowMs() + left + LATE_MS);
        },
        () => undefined,
      );
    }
    give(job);
  };
  const lookAgain = (ms: number): void => {
    if (!isTaking) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      mustLook = true;
      wake();
    }, ms);
  };

  const endOrphan = async ({ id }: ActiveJob): Promise<void> => {
    log.warn({ check: id }, 'job interrupted');
    await interrupt(id);
    await jobs.discard([id]);
  };
  /** Own jobs are given again: the agent runs each once. Those of an agent that is gone are reported as interrupted. */
  const look = async (): Promise<void> => {
    const active = await jobs.active();
    const foreign: ActiveJob[] = [];
    for (const job of active) {
      if (job.data === '') await jobs.discard([job.id]);
      else if (job.taker === instance) hold(job);
      else if (!(await isConnected(job.taker))) foreign.push(job);
    }
    const left = foreign.filter(({ id }) => orphans.has(id));
    orphans = new Set(foreign.map(({ id }) => id));
    for (const job of left) await endOrphan(job);
    if (active.some(({ taker }) => taker !== instance)) lookAgain(LOOK_AGAIN_MS);
  };
  const takeAll = async (): Promise<void> => {
    if (mustLook) {
      mustLook = false;
      await look();
    }
    while (isTaking && room() > 0) {
      const found = await jobs.take(room());
      mayWait = found.waiting > 0;
      taken += found.jobs.length;
      found.jobs.forEach(hold);
      if (!mayWait) return;
    }
  };
  const run = async (): Promise<void> => {
    try {
      do {
        again = false;
        mayWait = true;
        await takeAll();
      } while (again && isTaking);
    } finally {
      isBusy = false;
    }
  };
  const wake = (): void => {
    again = true;
    if (isBusy || !isTaking) return;
    isBusy = true;
    run().catch((error: unknown) => {
      if (!isStoreFault(error)) log.error({ err: error }, 'jobs could not be taken');
      // The reply may be lost and not the command.
      mustLook = true;
      lookAgain(RETRY_MS);
    });
  };

  return {
    wake: () => {
      if (isFirst) lookAgain(LOOK_AGAIN_MS);
      isFirst = false;
      wake();
    },
    release: (id) => {
      if (!held.delete(id)) return;
      end(id);
      if (mayWait) wake();
    },
    finish: (id) => {
      const wasHeld = held.delete(id);
      end(id);
      finisher.add(id);
      if (wasHeld && mayWait) wake();
    },
    stop: () => {
      isTaking = false;
      clearTimeout(timer);
    },
    running: () => held.size,
    taken: () => taken,
    isStuck: () => [...held.values()].some((lateAtMs) => lateAtMs <= nowMs() && lateAtMs > endedAtMs),
  };
}
