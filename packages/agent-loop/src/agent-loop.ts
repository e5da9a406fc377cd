import { randomUUID } from 'node:crypto';

import { LAST_JOBS_MS, redisKeys } from '@vantage/contract';
import { hasAnswered, openPatient } from '@vantage/redis-connections';
import { pause, within } from '@vantage/timers';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';

import { createAgentClock, type AgentClock } from './clock.ts';
import { createHeartbeat, type HeartbeatParts, type HeartbeatWriter } from './heartbeat.ts';
import { createJobLoop, type JobLoop } from './job-loop.ts';
import { createLeftoverLook } from './leftover-jobs.ts';
import { createLiveness, type Liveness } from './liveness.ts';
import { pollAbandoned, type OnAbandoned } from './abandoned.ts';
import { openQueue, type QueuedJob } from './probe-queue.ts';
import { untilReady } from './redis.ts';
import { createResults, type ResultOutlet, type Results } from './results.ts';
import { heartbeatKey, resultStream } from './wire.ts';

/** Takes jobs of a probe and reports their results; the job runner is a parameter. */
export interface AgentLoop {
  /**
   * Resolves when jobs are taken, even after a long outage of Redis, or when the loop was stopped.
   *
   * @throws if the job runner cannot be opened
   */
  readonly start: () => Promise<void>;
  /**
   * Takes jobs for a last second, lets running ones finish within a limit, reports the others as interrupted, and
   * closes. Never rejects.
   */
  readonly drain: () => Promise<void>;
  /** Closes at once; the next agent reports running jobs as interrupted. Never rejects. */
  readonly close: () => Promise<void>;
}

export interface AgentLoopOptions {
  readonly probeId: string;
  readonly redisUrl: string;
  /** Trusted CA certificates in PEM; by default those of Node. */
  readonly redisCertificates?: string | undefined;
  /** Concurrent jobs. */
  readonly concurrency: number;
  /** Time for running jobs to finish when the agent drains, milliseconds. */
  readonly drainMs: number;
  /** Called once, before Redis is connected to. */
  readonly open: () => Promise<JobRunner>;
  /** The `traceparent` of the span of a check's run, for the coordinator that commits its result. */
  readonly placeOf?: ((checkId: string) => string | undefined) | undefined;
  /** Called when jobs can no longer be taken and only a restart of the process helps. */
  readonly onHopeless?: (() => void) | undefined;
  readonly log: Logger;
}

/** Runs the jobs of a probe. */
export interface JobRunner {
  /** Called once with the connections, before they are usable. */
  readonly watch?: ((watched: WatchedLoop) => void) | undefined;
  /** Called with the address of Redis after each connection. */
  readonly noteRedis?: ((address: string | undefined, port: number | undefined) => void) | undefined;
  /** Called once, when Redis is usable. */
  readonly prepare: (link: Link) => Work;
  /** Called once jobs are taken. */
  readonly started?: ((instance: string) => void) | undefined;
  readonly close: () => Promise<void>;
}

/** Dependencies of a job runner that the loop provides. */
export interface Link {
  /** The clock of Redis. */
  readonly clock: Pick<AgentClock, 'now' | 'rttMs' | 'read'>;
  readonly outlet: ResultOutlet;
  readonly onAbandoned: OnAbandoned;
}

export interface Work {
  /**
   * Runs a job and writes its results. Never rejects.
   *
   * @param interrupted aborted when the agent must stop now
   */
  readonly run: (job: QueuedJob, id: string, interrupted: AbortSignal) => Promise<void>;
  /** Jobs exempt from the concurrency limit: their runner has a separate limit. */
  readonly isAside: (id: string) => boolean;
  readonly isCheckId: (id: string) => boolean;
  /** Fields of the heartbeat in addition to the load. */
  readonly describe: () => Omit<ReturnType<HeartbeatParts['describe']>, 'load' | 'taken' | 'draining'>;
}

/** Properties of a connection that metrics observe. */
export interface WatchedConnection {
  readonly status: string;
  readonly on: (event: 'ready', listener: () => void) => unknown;
}

export interface WatchedLoop {
  readonly connections: Readonly<Record<string, WatchedConnection>>;
  readonly rttMs: () => number;
  /** Undefined until jobs are taken. */
  readonly running: () => number | undefined;
  readonly capacity: number;
}

/** Interval of looks for jobs whose take reply was lost; two looks confirm one. */
const LOOK_FOR_LEFTOVERS_EVERY_MS = 2_000;
/** Replies are lost only with a connection: this many looks after the last connection, looks become rare. */
const LOOKS_AFTER_CONNECTING = 30;
const SELDOM_LOOKS = 5;
/** Steps of Redis' clock are noticed at once by waits for jobs; this follows drift. */
const READ_CLOCK_EVERY_MS = 30_000;
const RETRY_START_MS = 500;
/** Time for the reports of interrupted jobs and the last results to reach Redis; longer than a typical stall. */
const FAREWELL_MS = 3_000;
/** Time to remove the heartbeat. */
const LAST_BEAT_MS = 1_500;
/** Readings per measurement of the clock; the one with the shortest round trip counts. */
const READINGS = 3;

interface Running {
  readonly redis: Redis;
  readonly resultsRedis: Redis;
  readonly results: Results;
  readonly runner: JobRunner;
  readonly blocking: Redis;
  readonly loop?: JobLoop;
  readonly liveness?: Liveness;
  readonly heartbeat?: HeartbeatWriter;
}

export function createAgentLoop(options: AgentLoopOptions): AgentLoop {
  const { probeId, concurrency, log } = options;
  const stopping = new AbortController();
  const interrupted = new AbortController();
  const timers: NodeJS.Timeout[] = [];
  const instance = randomUUID();
  let running: Running | undefined;
  let closing: Promise<void> | undefined;
  let isDraining = false;

  const start = async (): Promise<void> => {
    const runner = await options.open();
    if (stopping.signal.aborted) return runner.close();
    const connection = {
      url: options.redisUrl,
      certificates: options.redisCertificates,
      // All keys of a probe have the same hash tag.
      keyInUse: redisKeys.results(probeId),
      closing: interrupted.signal,
      log,
    };
    const redis = openPatient({ ...connection, name: `vantage-agent:${probeId}:jobs`, resend: true });
    // Closed first when the loop stops.
    const blocking = openPatient({
      ...connection,
      name: `vantage-agent:${probeId}:wait`,
      resend: false,
      closing: stopping.signal,
    });
    const resultsRedis = openPatient({ ...connection, name: `vantage-agent:${probeId}:results`, resend: false });
    const clock = createAgentClock(() => redis.time());
    const results = createResults({
      writer: resultStream(probeId, resultsRedis, options.placeOf),
      now: clock.now,
      log,
    });
    resultsRedis.on('ready', results.resume);
    redis.on('ready', () => runner.noteRedis?.(redis.stream.remoteAddress, redis.stream.remotePort));
    running = { redis, blocking, resultsRedis, results, runner };
    runner.watch?.({
      connections: { jobs: redis, results: resultsRedis },
      rttMs: clock.rttMs,
      running: () => running?.loop?.running(),
      capacity: concurrency,
    });
    const isUsable = await retried(stopping.signal, log, async () => {
      await untilReady(redis, stopping.signal);
      await setClock(clock);
    });
    if (!isUsable) return;

    const queue = openQueue({ probeId, redis, blocking, writing: resultsRedis });
    const work = runner.prepare({ clock, outlet: results, onAbandoned: pollAbandoned(queue.isAbandoned) });
    const loop = createJobLoop({
      source: queue,
      concurrency,
      rttMs: clock.rttMs,
      isAside: (job) => work.isAside(job.id),
      run: (job) => work.run(job, job.id, interrupted.signal),
      onOddWait: () => {
        void clock.read().catch(() => undefined);
        // After a step forward, Redis expires the heartbeat.
        void running?.heartbeat?.beat();
      },
      log,
    });
    const liveness = createLiveness({
      turns: loop.turns,
      isFull: loop.isFull,
      isConnected: () => hasAnswered(resultsRedis),
      reconnect: () => {
        // ioredis would not retry a connection that is being established.
        for (const each of [redis, blocking]) if (each.status === 'ready') each.disconnect(true);
      },
      giveUp: () => options.onHopeless?.(),
      log,
    });
    const describe: HeartbeatParts['describe'] = () => {
      const { degraded, ...rest } = work.describe();
      return {
        ...rest,
        degraded: [...reasonsOf(loop, liveness), ...degraded],
        load: { running: loop.running(), capacity: concurrency },
        taken: loop.taken(),
        draining: isDraining,
      };
    };
    const heartbeat = createHeartbeat({ instance, describe, ...heartbeatKey(probeId, resultsRedis), log });
    running = { ...running, loop, liveness, heartbeat };
    const lookForLeftovers = createLeftoverLook({
      queue,
      knows: loop.knows,
      adopt: loop.adopt,
      isCheckId: work.isCheckId,
      outlet: results,
      now: clock.now,
      log,
    });
    let hasFailed = false;
    const lookQuietly = async (): Promise<void> => {
      // Lost connections are logged separately.
      if (redis.status !== 'ready') return;
      try {
        await lookForLeftovers();
        hasFailed = false;
      } catch (error) {
        if (!hasFailed && redis.status === 'ready') log.warn({ err: error }, 'recovery of leftover jobs failed');
        hasFailed = true;
      }
    };

    heartbeat.start();
    // Closed meanwhile: workers started now would never be stopped.
    if (!(await retried(stopping.signal, log, lookForLeftovers))) return;
    let looks = 0;
    blocking.on('ready', () => (looks = 0));
    redis.on('ready', () => {
      if (!interrupted.signal.aborted) void setClock(clock).catch(() => undefined);
    });
    resultsRedis.on('ready', () => void heartbeat.beat());
    timers.push(
      setInterval(() => void clock.read().catch(() => undefined), READ_CLOCK_EVERY_MS),
      setInterval(() => {
        looks += 1;
        if (looks <= LOOKS_AFTER_CONNECTING || looks % SELDOM_LOOKS === 0) void lookQuietly();
      }, LOOK_FOR_LEFTOVERS_EVERY_MS),
    );
    loop.start();
    liveness.start();
    runner.started?.(instance);
  };

  const close = (): Promise<void> => {
    stopping.abort();
    interrupted.abort();
    closing ??= (async () => {
      running?.liveness?.stop();
      for (const timer of timers) clearTimeout(timer);
      await within(running?.heartbeat?.stop(), LAST_BEAT_MS);
      void running?.loop?.stop();
      running?.results.close();
      running?.redis.disconnect();
      running?.blocking.disconnect();
      running?.resultsRedis.disconnect();
      await running?.runner.close();
    })();
    return closing;
  };

  const drain = async (): Promise<void> => {
    isDraining = true;
    const { loop, heartbeat, results } = running ?? {};
    const lastJobsMs = loop === undefined ? 0 : Math.min(LAST_JOBS_MS, options.drainMs);
    void heartbeat?.beat();
    running?.liveness?.stop();
    log.info({ running: loop?.running() ?? 0, seconds: options.drainMs / 1_000 }, 'agent draining');
    await pause(lastJobsMs, interrupted.signal);
    stopping.abort();
    const idle = loop?.stop();
    await within(idle, options.drainMs - lastJobsMs);
    interrupted.abort();
    const farewell = performance.now() + FAREWELL_MS;
    await within(idle, FAREWELL_MS);
    await results?.flush(AbortSignal.timeout(Math.max(0, Math.ceil(farewell - performance.now()))));
    await close();
  };

  return { start, drain, close };
}

function reasonsOf({ refusal }: JobLoop, { reason }: Liveness): readonly string[] {
  const refused = refusal();
  if (refused !== undefined) return [`It takes no jobs: Redis refuses its commands (${refused}).`];
  const why = reason();
  return why === undefined ? [] : [why];
}

/**
 * Retries until it succeeds.
 *
 * @returns false if the agent was stopped meanwhile
 */
async function retried(signal: AbortSignal, log: Logger, action: () => Promise<void>): Promise<boolean> {
  while (!signal.aborted) {
    try {
      await action();
      return !signal.aborted;
    } catch (error) {
      // The server is loading its data, or refuses the login for now.
      if (!signal.aborted) log.warn({ err: error }, 'Redis not ready');
      await pause(RETRY_START_MS, signal);
    }
  }
  return false;
}

async function setClock(clock: AgentClock): Promise<void> {
  await clock.read(true);
  for (let reading = 1; reading < READINGS; reading += 1) await clock.read();
}
