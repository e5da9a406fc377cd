import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Redis } from 'ioredis';
import type { Logger } from 'pino';

import { abilityOf } from './capabilities.ts';
import { createRedisClock, type RedisClock } from './clock.ts';
import type { Config } from './config.ts';
import { createJobHandler } from './handle-job.ts';
import { createHeartbeat, type HeartbeatParts, type HeartbeatWriter } from './heartbeat.ts';
import { createInterruptionSweep } from './interrupted.ts';
import { createJobLoop, type JobLoop } from './job-loop.ts';
import { createPace } from './pace.ts';
import type { AgentParts, OpenParts } from './parts.ts';
import { connectRedis, untilReady } from './redis.ts';
import { createResults, type Results } from './results.ts';
import { createSchemas } from './schemas.ts';
import { lend } from './surroundings.ts';
import { heartbeatKey, resultStream } from './wire.ts';
import { openQueue, type ProbeQueue } from './worker.ts';

export interface Agent {
  /**
   * Resolves when jobs are taken, however long Redis is away before, or when the agent was stopped in between.
   *
   * @throws when the parts that measure cannot be made
   */
  readonly start: () => Promise<void>;
  /** Takes no more jobs, gives those that run their time, reports the rest as interrupted, and closes. Never rejects. */
  readonly drain: () => Promise<void>;
  /** Closes at once; what runs is found as interrupted by the next agent. Never rejects. */
  readonly close: () => Promise<void>;
}

/** Commands that were sent again after a reconnect have been answered by then. */
const SWEEP_AFTER_RECONNECT_MS = 1_500;
const SWEEP_EVERY_MS = 60_000;
/** Short enough to notice a connection that died in silence before a job needs it. */
const READ_CLOCK_EVERY_MS = 10_000;
const RETRY_START_MS = 500;
/** What interrupted jobs and the last results have, each, to reach Redis. */
const FAREWELL_MS = 1_500;

interface Running {
  readonly redis: Redis;
  readonly resultsRedis: Redis;
  readonly results: Results;
  readonly parts: AgentParts;
  readonly queue?: ProbeQueue;
  readonly loop?: JobLoop;
  readonly heartbeat?: HeartbeatWriter;
}

export function createAgent(config: Config, log: Logger, openParts: OpenParts): Agent {
  const stopping = new AbortController();
  const interrupted = new AbortController();
  const timers: NodeJS.Timeout[] = [];
  const instance = randomUUID();
  const version = ownVersion();
  let running: Running | undefined;
  let closing: Promise<void> | undefined;

  const start = async (): Promise<void> => {
    const parts = await openParts(config);
    if (stopping.signal.aborted) return parts.close();
    const connection = {
      url: config.redisUrl,
      certificates: config.redisCertificates,
      closing: interrupted.signal,
      log,
    };
    const redis = connectRedis({ ...connection, name: `vantage-agent:${config.probeId}:jobs`, resend: true });
    const resultsRedis = connectRedis({
      ...connection,
      name: `vantage-agent:${config.probeId}:results`,
      resend: false,
    });
    const clock = createRedisClock(() => redis.time());
    const pace = createPace();
    const results = createResults({
      writer: resultStream(config.probeId, resultsRedis),
      now: clock.now,
      isDense: pace.isDense,
      log,
    });
    resultsRedis.on('ready', results.resume);
    redis.on('ready', () => parts.noteRedis(redis.stream.remoteAddress, redis.stream.remotePort));
    running = { redis, resultsRedis, results, parts };
    if (!(await untilUsable(redis, clock, stopping.signal, log))) return;

    const queue = openQueue({ probeId: config.probeId, redis, log });
    const schemas = createSchemas();
    const handle = createJobHandler({
      loadDiagnostic: parts.loadDiagnostic,
      judge: parts.judge,
      surroundings: lend(config, parts, version),
      offered: new Set(config.checkTypes),
      clock,
      schemas,
      outlet: results,
      log,
    });
    const loop = createJobLoop({
      source: queue,
      concurrency: config.concurrency,
      pace,
      run: (job) => handle(queue.idOf(job), job.data, interrupted.signal),
      log,
    });
    const describe: HeartbeatParts['describe'] = () => ({
      version,
      ...abilityOf(config.checkTypes, parts.connectivity(), parts.rawSockets()),
      load: { running: loop.running(), capacity: config.concurrency },
      draining: stopping.signal.aborted,
    });
    const heartbeat = createHeartbeat({ instance, describe, ...heartbeatKey(config.probeId, resultsRedis), log });
    running = { ...running, queue, loop, heartbeat };
    const sweep = createInterruptionSweep({
      queue,
      knows: loop.knows,
      isCheckId: schemas.isCheckId,
      outlet: results,
      now: clock.now,
      log,
    });
    const sweepQuietly = (): Promise<void> =>
      sweep().catch((error: unknown) => log.warn({ err: error }, 'the look for interrupted jobs failed'));

    heartbeat.start();
    await queue.warmUp();
    // Not waited for: it ends when its reports are written.
    void sweepQuietly();
    redis.on('ready', () => {
      void clock.read(true).catch(() => undefined);
      void queue.warmUp();
      timers.push(setTimeout(() => void sweepQuietly(), SWEEP_AFTER_RECONNECT_MS));
    });
    resultsRedis.on('ready', () => void heartbeat.beat());
    timers.push(
      setInterval(() => void clock.read().catch(() => undefined), READ_CLOCK_EVERY_MS),
      setInterval(() => void sweepQuietly(), SWEEP_EVERY_MS),
    );
    if (stopping.signal.aborted) return;
    loop.start();
    log.info({ version, instance, ...describe().capabilities }, 'the agent takes jobs');
  };

  const close = (): Promise<void> => {
    stopping.abort();
    interrupted.abort();
    closing ??= (async () => {
      for (const timer of timers) clearTimeout(timer);
      await within(FAREWELL_MS, running?.heartbeat?.stop());
      await running?.queue?.close();
      running?.results.close();
      running?.redis.disconnect();
      running?.resultsRedis.disconnect();
      await running?.parts.close();
    })();
    return closing;
  };

  const drain = async (): Promise<void> => {
    stopping.abort();
    const { loop, heartbeat, results } = running ?? {};
    void heartbeat?.beat();
    const idle = loop?.stop();
    log.info({ running: loop?.running() ?? 0, seconds: config.drainSeconds }, 'the agent drains');
    await within(config.drainSeconds * 1_000, idle);
    interrupted.abort();
    await within(FAREWELL_MS, idle);
    await results?.flush(AbortSignal.timeout(FAREWELL_MS));
    await close();
  };

  return { start, drain, close };
}

function ownVersion(): string {
  const file = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(file) as { readonly version: string }).version;
}

/** @returns false when the agent was stopped in between */
async function untilUsable(redis: Redis, clock: RedisClock, signal: AbortSignal, log: Logger): Promise<boolean> {
  while (!signal.aborted) {
    try {
      await untilReady(redis, signal);
      await clock.read(true);
      return true;
    } catch (error) {
      // A server that loads its file, or one that does not let us in yet.
      if (!signal.aborted) log.warn({ err: error }, 'Redis is not usable yet');
      await sleep(RETRY_START_MS, undefined, { signal }).catch(() => undefined);
    }
  }
  return false;
}

async function within(ms: number, promise: Promise<void> | undefined): Promise<void> {
  const timer = new AbortController();
  await Promise.race([promise, sleep(ms, undefined, { signal: timer.signal }).catch(() => undefined)]);
  timer.abort();
}
