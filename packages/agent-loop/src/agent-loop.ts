import { randomUUID } from 'node:crypto';

import { redisKeys } from '@vantage/contract';
import { hasAnswered, openPatient } from '@vantage/redis-connections';
import { pause, within } from '@vantage/timers';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';

import { createRedisClock, type RedisClock } from './clock.ts';
import { createHeartbeat, type HeartbeatParts, type HeartbeatWriter } from './heartbeat.ts';
import { createJobLoop, type JobLoop } from './job-loop.ts';
import { createLeftoverLook } from './leftover-jobs.ts';
import { createLiveness, type Liveness } from './liveness.ts';
import { openQueue, type QueuedJob } from './probe-queue.ts';
import { untilReady } from './redis.ts';
import { createResults, type ResultOutlet, type Results } from './results.ts';
import { heartbeatKey, resultStream } from './wire.ts';

/** A probe that takes jobs from its queue and reports what they come to, whatever it is that runs them. */
export interface AgentLoop {
  /**
   * Resolves when jobs are taken, however long Redis is away before, or when the loop was stopped in between.
   *
   * @throws when what runs the jobs cannot be opened
   */
  readonly start: () => Promise<void>;
  /** Takes no more jobs, gives those that run their time, reports the rest as interrupted, and closes. Never rejects. */
  readonly drain: () => Promise<void>;
  /** Closes at once; what runs is found as interrupted by the next agent. Never rejects. */
  readonly close: () => Promise<void>;
}

export interface AgentLoopOptions {
  readonly probeId: string;
  readonly redisUrl: string;
  /** Certificates in PEM that a TLS server may present; without them those that Node trusts. */
  readonly redisCertificates?: string | undefined;
  /** Jobs at a time. */
  readonly concurrency: number;
  /** What jobs that run have to end when the agent drains, milliseconds. */
  readonly drainMs: number;
  /** Called once, before Redis is connected to. */
  readonly open: () => Promise<JobRunner>;
  /** The `traceparent` of the span of a check's run, for the coordinator that commits its result. */
  readonly placeOf?: ((checkId: string) => string | undefined) | undefined;
  /** Called when no more jobs can be taken, and only a new process can help. */
  readonly onHopeless?: (() => void) | undefined;
  readonly log: Logger;
}

/** What runs the jobs of a probe. */
export interface JobRunner {
  /** Called once, when there are connections. They are not usable yet. */
  readonly watch?: ((watched: WatchedLoop) => void) | undefined;
  /** Called with each connection: where Redis was reached. */
  readonly noteRedis?: ((address: string | undefined, port: number | undefined) => void) | undefined;
  /** Called once, when Redis is usable. */
  readonly prepare: (link: Link) => Work;
  /** Called once jobs are taken. */
  readonly started?: ((instance: string) => void) | undefined;
  readonly close: () => Promise<void>;
}

/** What jobs are run with, of the loop's. */
export interface Link {
  /** The clock of Redis. */
  readonly clock: Pick<RedisClock, 'now' | 'rttMs' | 'read'>;
  readonly outlet: ResultOutlet;
}

export interface Work {
  /**
   * Runs one job and hands what it comes to to the outlet. Never rejects.
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

/** What metrics observe of a connection. */
export interface WatchedConnection {
  readonly status: string;
  readonly on: (event: 'ready', listener: () => void) => unknown;
}

export interface WatchedLoop {
  readonly connections: Readonly<Record<string, WatchedConnection>>;
  readonly rttMs: () => number;
  /** Undefined while no jobs are taken yet. */
  readonly running: () => number | undefined;
  readonly capacity: number;
}

/** Two looks find a job whose answer was lost; none lasts less than this. */
const LOOK_FOR_LEFTOVERS_EVERY_MS = 2_000;
/** Answers are lost with a connection: that many looks after a new one only every so many more. */
const LOOKS_AFTER_CONNECTING = 30;
const SELDOM_LOOKS = 5;
/** Steps of the clock of Redis show in the waits for jobs at once; this follows what is less than a step. */
const READ_CLOCK_EVERY_MS = 30_000;
const RETRY_START_MS = 500;
/** What interrupted jobs and the last results have together to reach Redis: more than a machine stands still. */
const FAREWELL_MS = 3_000;
/** What the heartbeat has to be taken back. */
const LAST_BEAT_MS = 1_500;
/** Of several readings of the clock that which was quickest counts: one may have been held up on the way. */
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

  const start = async (): Promise<void> => {
    const runner = await options.open();
    if (stopping.signal.aborted) return runner.close();
    const connection = {
      url: options.redisUrl,
      certificates: options.redisCertificates,
      // Every key of a probe has its hash tag.
      keyInUse: redisKeys.results(probeId),
      closing: interrupted.signal,
      log,
    };
    const redis = openPatient({ ...connection, name: `vantage-agent:${probeId}:jobs`, resend: true });
    // Closed as soon as no more jobs are taken.
    const blocking = openPatient({
      ...{ ...connection, name: `vantage-agent:${probeId}:wait`, resend: false },
      closing: stopping.signal,
    });
    const resultsRedis = openPatient({ ...connection, name: `vantage-agent:${probeId}:results`, resend: false });
    const clock = createRedisClock(() => redis.time());
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

    const queue = openQueue({ probeId, redis, blocking });
    const work = runner.prepare({ clock, outlet: results });
    const loop = createJobLoop({
      source: queue,
      concurrency,
      rttMs: clock.rttMs,
      isAside: (job) => work.isAside(job.id),
      run: (job) => work.run(job, job.id, interrupted.signal),
      onOddWait: () => {
        void clock.read().catch(() => undefined);
        // A step forward ends the time to live of what Redis has.
        void running?.heartbeat?.beat();
      },
      log,
    });
    const liveness = createLiveness({
      turns: loop.turns,
      isFull: loop.isFull,
      isConnected: () => hasAnswered(resultsRedis),
      reconnect: () => {
        // ioredis would give up one that is being made, for good.
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
        draining: stopping.signal.aborted,
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
      // A connection that is lost has its own line in the log.
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
    // Closed meanwhile: nothing would end what begins now.
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
    stopping.abort();
    const { loop, heartbeat, results } = running ?? {};
    void heartbeat?.beat();
    running?.liveness?.stop();
    const idle = loop?.stop();
    log.info({ running: loop?.running() ?? 0, seconds: options.drainMs / 1_000 }, 'agent draining');
    await within(idle, options.drainMs);
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
 * Tries again until it succeeds.
 *
 * @returns false when the agent was stopped in between
 */
async function retried(signal: AbortSignal, log: Logger, action: () => Promise<void>): Promise<boolean> {
  while (!signal.aborted) {
    try {
      await action();
      return !signal.aborted;
    } catch (error) {
      // A server that loads its file, or one that does not let us in yet.
      if (!signal.aborted) log.warn({ err: error }, 'Redis not ready');
      await pause(RETRY_START_MS, signal);
    }
  }
  return false;
}

async function setClock(clock: RedisClock): Promise<void> {
  await clock.read(true);
  for (let reading = 1; reading < READINGS; reading += 1) await clock.read();
}
