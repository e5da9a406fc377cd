import { redisKeys } from '@vantage/contract';
import { openPatient } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';

import { createAgentClock, type AgentClock } from './clock.ts';
import { createLosses, type Losses } from './losses.ts';
import { createResults, type Results } from './results.ts';
import { resultStream } from './wire.ts';

export interface RedisLinkOptions {
  readonly probeId: string;
  readonly redisUrl: string;
  readonly redisCertificates?: string | undefined;
  readonly traceparentOf?: ((checkId: string) => string | undefined) | undefined;
  /** Aborted to end the connection that waits for jobs. */
  readonly stopping: AbortSignal;
  /** Aborted to end the other connections. */
  readonly interrupted: AbortSignal;
  readonly log: Logger;
}

/** The connections of an agent to Redis, with its clock and the results to be written. */
export interface RedisLink {
  /** Connection for all commands that do not block. */
  readonly redis: Redis;
  /** Connection for the command that waits for a job. */
  readonly blocking: Redis;
  readonly resultsRedis: Redis;
  readonly clock: LinkClock;
  readonly results: Results;
  readonly losses: Losses;
  /**
   * Calls the listener each time that Redis refuses the login: the probe was suspended or removed, or has another
   * password.
   */
  readonly onLoginRefused: (listener: () => void) => void;
  /** Replaces the connections of the job loop. */
  readonly reconnect: () => void;
  readonly close: () => void;
}

export interface LinkClock extends AgentClock {
  /** Reads the clock of Redis `READINGS` times, as that of a new server. Rejects if Redis does not answer. */
  readonly set: () => Promise<void>;
  /** Reads the clock once. True if it was stepped; a failure has no effect. */
  readonly refresh: () => Promise<boolean>;
}

/** Number of readings of the clock after each connection: a faster reading corrects a slow one. */
const READINGS = 3;
/** Smaller changes are taken for errors of slow readings. */
const STEP_MS = 500;

export function openRedisLink(options: RedisLinkOptions): RedisLink {
  const { probeId, stopping, interrupted, log } = options;
  const shared = {
    url: options.redisUrl,
    certificates: options.redisCertificates,
    // Any key of the probe serves: all have the same hash tag, hence the same node of a cluster.
    keyInUse: redisKeys.results(probeId),
    log,
  };
  const nameOf = (use: string): string => `vantage-agent:${probeId}:${use}`;
  const redis = openPatient({ ...shared, name: nameOf('jobs'), resend: true, closing: interrupted });
  const blocking = openPatient({ ...shared, name: nameOf('wait'), resend: false, closing: stopping });
  const resultsRedis = openPatient({ ...shared, name: nameOf('results'), resend: false, closing: interrupted });
  const clock = clockOf(redis);
  const writer = resultStream(probeId, resultsRedis, options.traceparentOf);
  const results = createResults({ writer, now: clock.now, log });
  resultsRedis.on('ready', results.resume);
  const losses = createLosses('Redis');
  // A close without a `ready` before it is a failed attempt to connect.
  redis.on('ready', () => {
    losses.restored();
    redis.once('close', losses.note);
  });
  return {
    redis,
    blocking,
    resultsRedis,
    clock,
    results,
    losses,
    onLoginRefused: (listener) =>
      void redis.on('error', ({ message }: Error) => {
        if (message.startsWith('WRONGPASS ')) listener();
      }),
    reconnect: () => {
      // Replaces only ready connections: ioredis would not retry one that is being established.
      for (const each of [redis, blocking]) if (each.status === 'ready') each.disconnect(true);
    },
    close: () => {
      results.close();
      for (const each of [redis, blocking, resultsRedis]) each.disconnect();
    },
  };
}

function clockOf(redis: Redis): LinkClock {
  const clock = createAgentClock(() => redis.time());
  return {
    ...clock,
    set: async () => {
      await clock.read(true);
      for (let reading = 1; reading < READINGS; reading += 1) await clock.read();
    },
    refresh: () =>
      clock.read().then(
        (movedMs) => Math.abs(movedMs) >= STEP_MS,
        () => false,
      ),
  };
}
