import {
  redisKeys,
  unknownPlace,
  type Check,
  type Heartbeat,
  type LookUpPlace,
  type ProbeRecord,
} from '@vantage/contract';
import { findRedisServer, startRedisServer, type RedisServer, type RedisServerOptions } from '@vantage/redis-server';
import { until } from '@vantage/test-support/until';
import { Redis } from 'ioredis';

import type { AcceptedRequest, Creation } from '../src/checks/checks.ts';
import { createCore, type Core, type CoreOptions } from '../src/core.ts';
import type { Log } from '../src/redis/log.ts';
import { echo, readEcho, LONG_BUDGET_MS } from './echo-type.ts';

export const quiet: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** Upper bound of waits for the end of a check; a passing test never reaches it. */
export const PATIENT_MS = 50_000;

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

export { until };

export const nowhere: LookUpPlace = () => ({ ...unknownPlace, country: 'Nowhere' });

function ignore(): void {
  // Logs are not under test.
}
