import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import {
  heartbeatSchema,
  JOB_QUEUE,
  redisKeys,
  SCREENSHOT_JOB,
  screenshotJobId,
  type Heartbeat,
  type Job,
} from '@vantage/contract';
import type { ReportedScreenshot } from '@vantage/agent-loop';
import { findRedisServer, startRedisServer, type RedisServer, type RedisServerOptions } from '@vantage/redis-server';
import { Ajv } from 'ajv';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';

/** A private Redis with the coordinator's side of the protocol: adds jobs, reads results. */
export interface Rig {
  readonly server: () => RedisServer;
  readonly admin: Redis;
  /** Adds a job, due in one minute by default. Returns the check id. */
  readonly addJob: (probe: string, job?: Partial<Job>) => Promise<string>;
  /** Adds a screenshot job, due in two minutes by default. Returns the check id. */
  readonly addScreenshotJob: (probe: string, url: string, dueMs?: number, check?: string) => Promise<string>;
  /** Waits for the screenshot report of a check; fails after four minutes. */
  readonly screenshot: (probe: string, check: string) => Promise<ReportedScreenshot>;
  /** Entries of a probe's result stream, oldest first. */
  readonly results: (probe: string) => Promise<readonly Result[]>;
  /** Waits for the final result of a check; fails after forty seconds. */
  readonly final: (probe: string, check: string) => Promise<FinalResult>;
  readonly heartbeat: (probe: string) => Promise<Heartbeat | undefined>;
  /** Redis clock, milliseconds since the epoch. */
  readonly now: () => Promise<number>;
  /** Redis keys of a probe other than its result stream, heartbeat and BullMQ's queue metadata. */
  readonly leftovers: (probe: string) => Promise<readonly string[]>;
  readonly restart: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

interface Result {
  readonly check: string;
  readonly kind: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface FinalResult {
  readonly result: string;
  readonly startedAt: string | null;
  readonly finishedAt: string;
  readonly error: { readonly code: string; readonly source: string } | null;
  readonly [field: string]: unknown;
}

export async function startRig(arguments_: readonly string[] = []): Promise<Rig> {
  const executable = findRedisServer(process.env['PATH'] ?? '');
  if (executable === undefined) throw new Error('These tests need redis-server or valkey-server.');
  const options = { executable, arguments: arguments_, dataFolder: mkdtempSync(join(tmpdir(), 'vantage-rig-')) };
  return new RigOnRedis(options, await startRedisServer(options));
}

type ServerOptions = RedisServerOptions & { readonly dataFolder: string };

class RigOnRedis implements Rig {
  readonly admin: Redis;
  private readonly options: ServerOptions;
  private current: RedisServer;
  private readonly isHeartbeat = new Ajv().compile<Heartbeat>(heartbeatSchema);
  private readonly queues = new Map<string, Queue>();

  constructor(options: ServerOptions, server: RedisServer) {
    this.options = options;
    this.current = server;
    this.admin = new Redis(server.url, { maxRetriesPerRequest: null, retryStrategy: () => 50 });
    this.admin.on('error', () => undefined);
  }

  readonly server = (): RedisServer => this.current;

  readonly addJob: Rig['addJob'] = async (probe, job = {}) => {
    const checkId = newCheckId();
    const data = {
      v: 1 as const,
      checkId,
      type: 'tcp',
      params: { host: '127.0.0.1', port: 9, options: { attempts: 1 } },
      deadlineAt: (await this.now()) + 60_000,
      ...job,
    };
    return this.add(probe, data, data.checkId);
  };

  readonly addScreenshotJob: Rig['addScreenshotJob'] = async (probe, url, dueMs = 120_000, checkId = newCheckId()) => {
    const params = { url, insecureSSL: false };
    const job: Job = { v: 1, checkId, type: SCREENSHOT_JOB, params, deadlineAt: (await this.now()) + dueMs };
    return this.add(probe, job, screenshotJobId(checkId));
  };

  readonly screenshot: Rig['screenshot'] = (probe, check) =>
    eventually(async () => {
      for (const [, flat] of await this.admin.xrangeBuffer(redisKeys.results(probe), '-', '+')) {
        const fields = new Map(pairs(flat).map(([name, value]) => [name.toString(), value]));
        if (fields.get('check')?.toString() !== check || fields.get('kind')?.toString() !== 'screenshot') continue;
        const { failure } = JSON.parse(fields.get('data')!.toString()) as ReportedScreenshot;
        return { failure, png: fields.get('png') ?? null };
      }
      return undefined;
    }, 240_000);

  readonly results: Rig['results'] = async (probe) => {
    const entries = await this.admin.xrange(redisKeys.results(probe), '-', '+');
    return entries.map(([, fields]) => {
      const { check = '', kind = '', data = '' } = Object.fromEntries(pairs(fields));
      return { check, kind, data: JSON.parse(data) as Result['data'] };
    });
  };

  readonly final: Rig['final'] = (probe, check) =>
    eventually(async () => {
      const isIt = (entry: Result): boolean => entry.check === check && entry.kind === 'final';
      return (await this.results(probe)).find(isIt)?.data as FinalResult | undefined;
    });

  readonly heartbeat: Rig['heartbeat'] = async (probe) => {
    const json = await this.admin.get(redisKeys.heartbeat(probe));
    if (json === null) return undefined;
    const heartbeat: unknown = JSON.parse(json);
    if (!this.isHeartbeat(heartbeat)) throw new Error(`A heartbeat breaks its schema: ${json}`);
    return heartbeat;
  };

  readonly now = async (): Promise<number> => {
    const [seconds = 0, microseconds = 0] = (await this.admin.time()).map(Number);
    return Math.floor(seconds * 1_000 + microseconds / 1_000);
  };

  readonly leftovers: Rig['leftovers'] = async (probe) => {
    const expected = new Set(['hb', 'res', 'jobs:meta', 'jobs:events', 'jobs:id', 'jobs:marker']);
    const prefix = `${redisKeys.queuePrefix(probe)}:`;
    const keys = await this.admin.keys('*');
    return keys.filter((key) => key.startsWith(prefix) && !expected.has(key.slice(prefix.length)));
  };

  readonly restart = async (): Promise<void> => {
    const { port, pid, ended } = this.current;
    await this.admin.config('SET', 'appendfsync', 'always');
    process.kill(pid, 'SIGKILL');
    await ended;
    this.current = await startRedisServer({ ...this.options, port });
  };

  readonly stop = async (): Promise<void> => {
    for (const queue of this.queues.values()) await queue.close();
    this.admin.disconnect();
    await this.current.stop();
    rmSync(this.options.dataFolder, { recursive: true, force: true });
  };

  private async add(probe: string, data: Job, jobId: string): Promise<string> {
    await this.queueOf(probe).add(data.type, data, { jobId, attempts: 1, removeOnComplete: true, removeOnFail: true });
    return data.checkId;
  }

  private queueOf(probe: string): Queue {
    const options = { connection: this.admin, prefix: redisKeys.queuePrefix(probe) };
    const queue =
      this.queues.get(probe) ?? new Queue(JOB_QUEUE, { ...options, skipVersionCheck: true, skipMetasUpdate: true });
    this.queues.set(probe, queue);
    return queue;
  }
}

export function newCheckId(): string {
  return randomBytes(16).toString('base64url');
}

/** Retries until there is a value, for forty seconds by default, to tolerate a busy machine. */
export async function eventually<T>(
  attempt: () => Promise<T | undefined> | T | undefined,
  withinMs = 40_000,
): Promise<T> {
  const until = performance.now() + withinMs;
  for (;;) {
    const value = await attempt();
    if (value !== undefined) return value;
    if (performance.now() > until) throw new Error(`It did not come to be within ${withinMs} ms.`);
    await sleep(10);
  }
}

function pairs<T>(fields: readonly T[]): [T, T][] {
  return Array.from({ length: fields.length / 2 }, (_, index) => [fields[index * 2]!, fields[index * 2 + 1]!]);
}
