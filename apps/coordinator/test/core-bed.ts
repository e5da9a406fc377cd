import {
  redisKeys,
  unknownPlace,
  type AnyCheckType,
  type Check,
  type Heartbeat,
  type LookUpPlace,
  type MonitorRequest,
  type ProbeRecord,
} from '@vantage/contract';
import { findRedisServer, startRedisServer, type RedisServer, type RedisServerOptions } from '@vantage/redis-server';
import { until } from '@vantage/test-support/until';
import { Redis } from 'ioredis';

import type { AcceptedRequest, Creation } from '../src/checks/checks.ts';
import { createCore, type Core, type CoreOptions } from '../src/core.ts';
import { readAlarm, readInterval, type ReadDefinition } from '../src/monitors/definition.ts';
import type { Log } from '../src/redis/log.ts';

/** A check type with a configurable budget, two measured fields and one field that the coordinator adds. */
export const echo: AnyCheckType = {
  type: 'echo',
  title: 'Echo',
  summary: 'For tests.',
  hostKind: 'host',
  purpose: 'tcp',
  fields: {},
  options: { budget: { type: 'integer', default: 5_000 } },
  result: {
    said: { type: 'string', maxLength: 100_000 },
    steps: { type: 'array', items: { type: 'integer' } },
    country: { anyOf: [{ type: 'string' }, { type: 'null' }] },
  },
  requiredOnSuccess: ['said'],
  needsRawSockets: false,
  traffic: () => ({ packets: 1, bytes: 1 }),
  budgetMs: ({ options }) => Number(options['budget']),
  annotate: (result, lookUp) => ({ ...result, country: lookUp('192.0.2.1').country }),
};

type EchoMonitor = Partial<AcceptedRequest> & { readonly budget?: number; readonly everyMs?: number };

/** Monitors of tests: echo checks, with an interval that may be shorter than the API allows. */
export const readEcho: ReadDefinition = (name, request) => {
  const { check, every, expect, alarm, webhooks } = request as MonitorRequest;
  const { budget = LONG_BUDGET_MS, everyMs, ...places } = check as EchoMonitor;
  const definition = {
    name,
    request: { check, every, expect, alarm, webhooks } as MonitorRequest,
    everyMs: everyMs ?? readInterval(every)!,
    expectation: expect ?? {},
    rule: readAlarm(alarm ?? {})!,
    accepted: {
      checkType: echo,
      submittedHost: 'target.example',
      limit: 10,
      params: { host: 'target.example', options: { budget } },
      ...places,
    },
  };
  return { valid: true, definition };
};

export const quiet: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** Upper bound of waits for the end of a check; a passing test never reaches it. */
export const PATIENT_MS = 50_000;

const LONG_BUDGET_MS = 120_000;

/** A real Redis, coordinators, and probes that the test controls. */
export interface CoreBed {
  readonly server: RedisServer;
  /** A separate connection for the test. */
  readonly redis: Redis;
  readonly core: Core;
  readonly startCore: (options?: Partial<CoreOptions>) => Core;
  readonly addProbe: (id: string, more?: Partial<ProbeRecord>) => Promise<void>;
  readonly beat: (id: string, more?: Partial<Heartbeat>) => Promise<void>;
  /** Sends heartbeats now and every two seconds, so that the probe stays online on a slow machine. */
  readonly keepAlive: (id: string) => Promise<void>;
  /** @param request may contain the budget of the check in milliseconds; the default suffices on slow machines */
  readonly create: (request?: Partial<AcceptedRequest> & { readonly budget?: number }) => Promise<Creation>;
  /** Creates a check and returns its id; throws if it is refused. */
  readonly start: (request?: Partial<AcceptedRequest> & { readonly budget?: number }) => Promise<string>;
  readonly read: (id: string, waitMs?: number) => Promise<Check>;
  /** Removes `maxmemory` and waits until the coordinator accepts checks again. */
  readonly takeWrites: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

export async function startCoreBed(
  options: Partial<RedisServerOptions> = {},
  coreOptions: Partial<CoreOptions> = {},
): Promise<CoreBed> {
  const executable = findRedisServer(process.env['PATH'] ?? '');
  if (executable === undefined) throw new Error('These tests need redis-server or valkey-server on PATH.');
  const bed = new CoresOnRedis(await startRedisServer({ executable, ...options }), coreOptions);
  await until(() => bed.core.rateLimitRedis.status === 'ready');
  return bed;
}

class CoresOnRedis implements CoreBed {
  readonly server: RedisServer;
  readonly redis: Redis;
  readonly core: Core;
  private readonly coreOptions: Partial<CoreOptions>;
  private readonly cores: Core[] = [];
  private readonly beating = new Set<NodeJS.Timeout>();

  constructor(server: RedisServer, coreOptions: Partial<CoreOptions>) {
    this.server = server;
    this.coreOptions = coreOptions;
    this.redis = new Redis(server.url, { maxRetriesPerRequest: null, retryStrategy: () => 50 });
    this.redis.on('error', ignore);
    this.core = this.startCore();
  }

  readonly startCore = (more?: Partial<CoreOptions>): Core => {
    const core = createCore({
      redisUrl: this.server.url,
      log: quiet,
      lookUpPlace: nowhere,
      retentionSeconds: 3_600,
      // No test reaches this limit.
      longestQueueMs: 3_600_000,
      checkTypes: { echo },
      monitors: { readDefinition: readEcho },
      ...this.coreOptions,
      ...more,
    });
    this.cores.push(core);
    return core;
  };

  readonly create: CoreBed['create'] = ({ budget = LONG_BUDGET_MS, ...more } = {}) =>
    this.core.checks.create({
      checkType: echo,
      submittedHost: 'Target.example',
      params: { host: 'target.example', options: { budget } },
      limit: 10,
      ...more,
    });

  readonly beat: CoreBed['beat'] = async (id, more) => {
    await this.redis.set(redisKeys.heartbeat(id), JSON.stringify({ ...plainHeartbeat, ...more }), 'PX', 15_000);
  };

  readonly addProbe: CoreBed['addProbe'] = async (id, more) => {
    await this.core.probeRecords.write({ ...plainRecord, id, ...more });
  };

  readonly keepAlive = async (id: string): Promise<void> => {
    this.beating.add(setInterval(() => void this.beat(id).catch(ignore), 2_000));
    await this.beat(id);
  };

  readonly start: CoreBed['start'] = async (request) => {
    const creation = await this.create(request);
    if (!creation.created) throw new Error(JSON.stringify(creation));
    return creation.checkId;
  };

  readonly read: CoreBed['read'] = async (id, waitMs = 0) => {
    const check = await this.core.checks.read(id, waitMs, new AbortController().signal);
    if (check === undefined) throw new Error('there is no such check');
    return check;
  };

  readonly takeWrites = async (): Promise<void> => {
    await this.redis.config('SET', 'maxmemory', '0');
    await until(async () => (await this.core.ready()).writeRefusal === undefined);
  };

  readonly stop = async (): Promise<void> => {
    for (const timer of this.beating) clearInterval(timer);
    await Promise.all(this.cores.map((one) => one.close()));
    this.redis.disconnect();
    await this.server.stop();
  };
}

const plainRecord = {
  name: 'Probe',
  datacenter: 'Frankfurt',
  countryCode: 'DE',
  isp: 'Example Net',
  asNumber: 'AS64496',
  city: null,
  latitude: null,
  longitude: null,
  tags: [],
};

const plainHeartbeat: Heartbeat = {
  v: 1,
  version: '0.1.0',
  instance: 'a',
  capabilities: { types: ['echo'], ipv4: true, ipv6: false, screenshot: false },
  degraded: [],
  load: { running: 0, capacity: 10 },
  draining: false,
};

/** Sends a heartbeat of each probe, waits until all are online, and starts a check with a budget of two minutes. */
export async function startLongCheck(bed: CoreBed, probes: readonly string[]): Promise<string> {
  for (const probe of probes) await bed.beat(probe);
  // After an outage, connections recover independently.
  await until(() => bed.core.rateLimitRedis.status === 'ready');
  await until(async () => {
    const known = await bed.core.knownProbes();
    return probes.every((probe) => known.some(({ record, alive }) => record.id === probe && alive));
  });
  return bed.start({ probes });
}

/**
 * Moves the deadline of a check into the past: earlier writes were in time, later ones are late. With `maxmemory`,
 * Redis refuses writes from the same moment.
 */
export async function passDeadline(redis: Redis, check: string, { maxmemory = '0' } = {}): Promise<void> {
  const [seconds, microseconds] = await redis.time();
  const deadlineAt = Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
  await redis
    .multi()
    .hset(redisKeys.check(check), { deadlineAt })
    .zadd(redisKeys.deadlines, deadlineAt, check)
    .config('SET', 'maxmemory', maxmemory)
    .exec();
}

/** Writes a partial or final result like an agent. */
export async function report(
  redis: Redis,
  probe: string,
  check: string,
  data: unknown,
  { kind = 'final', notify = true, id = '*' } = {},
): Promise<void> {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  await redis.xadd(redisKeys.results(probe), id, 'check', check, 'kind', kind, 'data', text);
  if (notify) await redis.publish(redisKeys.resultNotification(probe), '1');
}

export function success(said: string): Readonly<Record<string, unknown>> {
  return {
    result: 'success',
    rt: 1.5,
    resolvedIp: '192.0.2.1',
    error: null,
    said,
    startedAt: '2026-01-01T00:00:00.000Z',
    finishedAt: '2026-01-01T00:00:00.100Z',
  };
}

export { until };

export const nowhere: LookUpPlace = () => ({ ...unknownPlace, country: 'Nowhere' });

function ignore(): void {
  // Logs are not under test.
}
