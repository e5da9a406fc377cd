import { within } from '@vantage/timers';
import type { Redis } from 'ioredis';

import type { CheckServiceOptions } from './checks/check-parts.ts';
import { createCheckService, type CheckService } from './checks/check-service.ts';
import { createGateway, type Gateway } from './gateway/gateway.ts';
import type { AgentRates } from './gateway/limits/agent-rates.ts';
import { heartbeatScripts } from './gateway/heartbeat-scripts.ts';
import { gatewayScripts } from './gateway/jobs/job-scripts.ts';
import { createKeyRing, POLL_INTERVAL_MS, type KeyRing } from './keys/key-ring.ts';
import { createMonitorService, type MonitorOptions } from './monitors/monitor-service.ts';
import type { MonitorReads, MonitorWrites } from './monitors/monitors.ts';
import type { AccessWatch } from './probes/enrolment/access-watch.ts';
import { createProbeService, type ProbeServiceOptions } from './probes/probe-service.ts';
import type { ProbeList } from './probes/registry/probe-list.ts';
import type { ProbeRecords } from './probes/registry/probe-records.ts';
import type { KnownProbe } from './probes/registry/probe-status.ts';
import { startBackgroundTasks } from './redis/background-tasks.ts';
import { openStore, type StoreOptions } from './redis/open-store.ts';

export interface CoreOptions extends StoreOptions, ProbeServiceOptions, CheckServiceOptions {
  readonly monitors: MonitorOptions;
}

/** The coordinator without its HTTP layer. */
export interface Core extends Omit<CheckService, 'scripts' | 'tasks'> {
  readonly probes: ProbeList;
  readonly keys: KeyRing;
  readonly monitors: MonitorReads & MonitorWrites;
  readonly probeRecords: ProbeRecords;
  /** State of the access of agents that connect to gateways, as of the last poll, and its changes. */
  readonly access: AccessWatch;
  /**
   * Accepts WebSocket connections of agents.
   *
   * @param origin of the service's public URL
   */
  readonly openGateway: (origin: string, rates?: AgentRates) => Gateway;
  /** Stores the service's public URL in Redis for the operator's commands. */
  readonly announceUrl: (url: string, isConfigured: boolean) => void;
  /** The probes, as of a refresh at most 1.5 s ago. Rejects if they cannot be read. */
  readonly knownProbes: () => Promise<readonly KnownProbe[]>;
  /** The state of Redis, probes and tasks. Never rejects: if the probes cannot be read, none counts as healthy. */
  readonly ready: () => Promise<{
    readonly redis: boolean;
    readonly healthyProbes: number;
    /** The error with which Redis refuses writes, if it does. */
    readonly writeRefusal: string | undefined;
    /** True if Redis had probe records before and has none now: they were lost, or the last probe was removed. */
    readonly isEmptied: boolean;
    /** Background tasks whose current run has taken about ten seconds or more. */
    readonly stalledTasks: readonly string[];
  }>;
  /**
   * A connection for the counters of rate limits: commands fail at once without a connection, and after a timeout if
   * Redis does not answer.
   */
  readonly rateLimitRedis: Redis;
  /** Stops background tasks and closes the connections; each wait has a limit. */
  readonly close: () => Promise<void>;
}

/** Starts at once, with or without Redis, and recovers when Redis returns. */
export function createCore(options: CoreOptions): Core {
  const store = openStore(options);
  const probes = createProbeService(store, options);
  const { scripts, tasks: checkTasks, ...checks } = createCheckService(store, probes, options);
  const keys = createKeyRing(store.background, store.clock, store.log);
  const keyTask = { name: 'api keys', everyMs: POLL_INTERVAL_MS, run: keys.poll };
  const monitors = createMonitorService(store, probes, checks.checks, options.monitors);
  store.preload([...probes.scripts, ...scripts, ...monitors.scripts, ...gatewayScripts, ...heartbeatScripts]);
  const tasks = startBackgroundTasks([keyTask, ...probes.tasks, ...checkTasks, ...monitors.tasks], options.log);
  return {
    ...checks,
    keys,
    monitors: monitors.monitors,
    probes: probes.list,
    probeRecords: probes.records,
    access: probes.access,
    announceUrl: probes.announceUrl,
    openGateway: (origin, rates) =>
      createGateway({ store, access: probes.access, origin, lookUpPlace: options.lookUpPlace, rates }),
    knownProbes: probes.directory.probes,
    rateLimitRedis: store.requests,
    ready: async () => {
      const healthyProbes = await probes.countHealthy().catch(() => undefined);
      const redis = healthyProbes !== undefined && store.requests.status === 'ready';
      const writeRefusal = store.writes.refusal();
      const isEmptied = probes.directory.isEmptied();
      return { redis, healthyProbes: healthyProbes ?? 0, writeRefusal, isEmptied, stalledTasks: tasks.stalled() };
    },
    close: async () => {
      store.channels.stop();
      const monitorsEnd = monitors.close();
      await within(tasks.stop(), 1_000);
      await monitorsEnd;
      await checks.close();
      await store.close();
    },
  };
}

/**
 * Why the service is not ready, in sentences. A process that serves only agents is ready without a probe: otherwise no
 * agent could connect.
 */
export async function missing({ ready }: Pick<Core, 'ready'>, isGatewayOnly: boolean): Promise<readonly string[]> {
  const { redis, healthyProbes, writeRefusal, isEmptied, stalledTasks } = await ready();
  if (!redis) return ['Redis does not answer.'];
  return [
    ...(writeRefusal === undefined ? [] : [`Redis refuses writes: ${writeRefusal.replace(/\.$/, '')}.`]),
    ...(isEmptied ? [NO_RECORDS] : []),
    ...(healthyProbes === 0 && !isGatewayOnly ? ['No probe is healthy.'] : []),
    ...stalledTasks.map((name) => `A background task does not end: ${name}.`),
  ];
}

/** The text names both possible causes, which are indistinguishable: lost data, and the removal of the last probe. */
const NO_RECORDS =
  'Redis has the record of no probe any more: add a probe, or restore the data of Redis if it was lost.';
