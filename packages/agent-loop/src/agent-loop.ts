import { randomUUID } from 'node:crypto';

import { LAST_JOBS_MS } from '@vantage/contract';
import { pause, within } from '@vantage/timers';
import type { Logger } from 'pino';

import { pollAbandoned } from './abandoned.ts';
import { createDuty, type Duty } from './duty.ts';
import type { JobRunner } from './job-runner.ts';
import { openQueue } from './probe-queue.ts';
import { openRedisLink, type RedisLink } from './redis-link.ts';
import { retried, untilReady } from './redis.ts';

/** Takes jobs of a probe and reports their results; the job runner is a parameter. */
export interface AgentLoop {
  /**
   * Resolves when jobs are taken, even after a long outage of Redis or the gateway, or when the loop was stopped.
   *
   * @throws if the job runner cannot be opened
   */
  readonly start: () => Promise<void>;
  /**
   * Takes jobs for another `LAST_JOBS_MS`, or `drainMs` if that is shorter; lets running ones finish within `drainMs`,
   * reports the others as interrupted, and closes. Never rejects.
   */
  readonly drain: () => Promise<void>;
  /** Closes without waiting for running jobs to finish. Never rejects. */
  readonly close: () => Promise<void>;
}

export interface AgentLoopOptions {
  readonly probeId: string;
  readonly redisUrl: string;
  /** Trusted CA certificates in PEM; by default those of Node. */
  readonly redisCertificates?: string | undefined;
  /** Maximum number of jobs that run at a time; exempt ones do not count. */
  readonly concurrency: number;
  /** Time for running jobs to finish when the agent drains, milliseconds. */
  readonly drainMs: number;
  /** Called once, before the first connection. */
  readonly open: () => Promise<JobRunner>;
  /**
   * The `traceparent` of the span of a check's run, for the coordinator that commits its result; undefined without a
   * span.
   */
  readonly traceparentOf?: ((checkId: string) => string | undefined) | undefined;
  /** Called when jobs can no longer be taken and only a restart of the process helps. */
  readonly onHopeless?: (() => void) | undefined;
  readonly log: Logger;
}

/** Interval at which the clock of Redis is read, to follow its drift. */
const READ_CLOCK_EVERY_MS = 30_000;
/** Time for the reports of interrupted jobs and the last results to reach Redis; longer than a typical stall. */
const FAREWELL_MS = 3_000;
/** Longest wait for the removal of the heartbeat. */
const LAST_BEAT_MS = 1_500;

export function createAgentLoop(options: AgentLoopOptions): AgentLoop {
  return new RedisAgent(options);
}

class RedisAgent implements AgentLoop {
  private readonly options: AgentLoopOptions;
  /** Aborted when no more jobs are taken. */
  private readonly stopping = new AbortController();
  /** Aborted when running jobs must end. */
  private readonly interrupted = new AbortController();
  private readonly instance = randomUUID();
  private runner: JobRunner | undefined;
  private link: RedisLink | undefined;
  private duty: Duty | undefined;
  private clockTimer: NodeJS.Timeout | undefined;
  private isDraining = false;
  private closing: Promise<void> | undefined;

  constructor(options: AgentLoopOptions) {
    this.options = options;
  }

  readonly start = async (): Promise<void> => {
    const { open, log } = this.options;
    const runner = await open();
    if (this.stopping.signal.aborted) return runner.close();
    const link = this.connect(runner);
    const isUsable = await retried(this.stopping.signal, log, async () => {
      await untilReady(link.redis, this.stopping.signal);
      await link.clock.set();
    });
    if (!isUsable) return;
    const { redis, blocking, resultsRedis, clock, results } = link;
    const queue = openQueue({ probeId: this.options.probeId, redis, blocking, writing: resultsRedis });
    const work = runner.prepare({ clock, outlet: results, onAbandoned: pollAbandoned(queue.isAbandoned) });
    const duty = createDuty(link, queue, work, {
      ...this.options,
      instance: this.instance,
      interrupted: this.interrupted.signal,
      isDraining: () => this.isDraining,
    });
    this.duty = duty;
    duty.heartbeat.start();
    // The agent was stopped meanwhile: a loop that started now would never be stopped.
    if (!(await retried(this.stopping.signal, log, duty.leftovers.poll))) return;
    this.begin(link, duty);
    runner.started?.(this.instance);
  };

  readonly drain = async (): Promise<void> => {
    this.isDraining = true;
    const { drainMs, log } = this.options;
    const { loop, heartbeat, liveness } = this.duty ?? {};
    const lastJobsMs = loop === undefined ? 0 : Math.min(LAST_JOBS_MS, drainMs);
    void heartbeat?.beat();
    liveness?.stop();
    log.info({ running: loop?.running() ?? 0, seconds: drainMs / 1_000 }, 'agent draining');
    await pause(lastJobsMs, this.interrupted.signal);
    this.stopping.abort();
    const idle = loop?.stop();
    await within(idle, drainMs - lastJobsMs);
    this.interrupted.abort();
    const farewell = performance.now() + FAREWELL_MS;
    await within(idle, FAREWELL_MS);
    await this.link?.results.flush(AbortSignal.timeout(Math.max(0, Math.ceil(farewell - performance.now()))));
    await this.close();
  };

  readonly close = (): Promise<void> => {
    this.stopping.abort();
    this.interrupted.abort();
    this.closing ??= this.closeAll();
    return this.closing;
  };

  private async closeAll(): Promise<void> {
    const { duty, link } = this;
    duty?.liveness.stop();
    duty?.leftovers.stop();
    duty?.withdrawals.stop();
    clearInterval(this.clockTimer);
    await within(duty?.heartbeat.stop(), LAST_BEAT_MS);
    void duty?.loop.stop();
    link?.close();
    await this.runner?.close();
  }

  private connect(runner: JobRunner): RedisLink {
    const link = openRedisLink({
      ...this.options,
      stopping: this.stopping.signal,
      interrupted: this.interrupted.signal,
    });
    const { redis, resultsRedis, clock } = link;
    this.runner = runner;
    this.link = link;
    redis.on('ready', () => runner.noteRedis?.(redis.stream.remoteAddress, redis.stream.remotePort));
    runner.watch?.({
      connections: { jobs: redis, results: resultsRedis },
      rttMs: clock.rttMs,
      running: () => this.duty?.loop.running(),
      capacity: this.options.concurrency,
    });
    return link;
  }

  private begin({ redis, resultsRedis, clock }: RedisLink, duty: Duty): void {
    const { loop, liveness, heartbeat, leftovers, withdrawals, readClock } = duty;
    redis.on('ready', () => {
      if (!this.interrupted.signal.aborted) void clock.set().catch(() => undefined);
    });
    resultsRedis.on('ready', () => void heartbeat.beat());
    this.clockTimer = setInterval(() => void readClock(), READ_CLOCK_EVERY_MS);
    leftovers.start();
    withdrawals.start();
    loop.start();
    liveness.start();
  }
}
