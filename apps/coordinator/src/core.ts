import { setTimeout as sleep } from 'node:timers/promises';

import type { AnyCheckType, LookUpPlace } from '@vantage/contract';
import { checkTypes } from '@vantage/diagnostics/contract';
import type { Redis } from 'ioredis';

import { checkScripts } from './checks/check-scripts.ts';
import { createCheckTypes } from './checks/check-types.ts';
import type { Checks } from './checks/checks.ts';
import { createCounters, type Counters } from './checks/counters.ts';
import { createChecks } from './checks/create-check.ts';
import { createDeadlines } from './checks/deadlines.ts';
import { createIngest } from './checks/ingest.ts';
import { createJobQueues } from './checks/job-queues.ts';
import { createReads } from './checks/read-check.ts';
import { createResultValidators } from './checks/result-validators.ts';
import { sweepDeadlines } from './checks/sweep.ts';
import { createProbeDirectory, heartbeatScript } from './probes/probe-directory.ts';
import { createProbeList } from './probes/probe-list.ts';
import { createProbeRecords, type ProbeRecords } from './probes/probe-records.ts';
import { statusOf } from './probes/probe-status.ts';
import { createProbeValidators } from './probes/probe-validators.ts';
import type { ProbeList } from './probes/probes.ts';
import { openChannels } from './redis/channels.ts';
import { createRedisClock } from './redis/clock.ts';
import { closeAll, openConnection, within } from './redis/connections.ts';
import type { Log } from './redis/log.ts';
import { createOutageGrace } from './redis/outage-grace.ts';
import { loadScripts } from './redis/scripts.ts';
import { isStoreFault } from './redis/store.ts';

/** Deadlines are looked at this often; the spread keeps coordinators from doing so in step. */
const SWEEP_EVERY_MS = { from: 150, to: 300 };

/** Hints of new results can be lost, so every stream is looked at this often. */
const DRAIN_EVERY_MS = 1_000;

/** Every so many of those looks take over what a coordinator that died was holding, for longer than a command may take. */
const CLAIM_EVERY = 4;
const CLAIM_IDLE_MS = 3_000;

export interface CoreOptions {
  readonly redisUrl: string;
  readonly log: Log;
  readonly lookUpPlace: LookUpPlace;
  /** Asks a registry about an address ahead of `lookUpPlace`; absent where the operator wants none asked. Never rejects. */
  readonly preparePlace?: ((address: string) => Promise<void>) | undefined;
  /** Results are kept for this long after a check is completed. */
  readonly retentionSeconds: number;
  /** The check types there are; without it those of the registry. */
  readonly checkTypes?: Readonly<Record<string, AnyCheckType>>;
}

/** Everything of the coordinator but its HTTP edge. */
export interface Core {
  readonly checks: Checks;
  readonly probes: ProbeList;
  readonly probeRecords: ProbeRecords;
  readonly counters: Readonly<Counters>;
  /** Never rejects: without Redis no probe is healthy. */
  readonly ready: () => Promise<{ readonly redis: boolean; readonly healthyProbes: number }>;
  /** A connection that fails at once when Redis is away, for the counters of the rate limits. */
  readonly rateLimitRedis: Redis;
  /** Stops the background work and closes the connections, within two seconds. */
  readonly close: () => Promise<void>;
}

/** Starts at once, whether Redis is there or not, and goes on when it comes back. */
export function createCore(options: CoreOptions): Core {
  const { redisUrl, log, lookUpPlace } = options;
  const retentionMs = options.retentionSeconds * 1_000;
  const requests = openConnection(redisUrl, 'requests', log);
  const background = openConnection(redisUrl, 'background', log);
  const counters = createCounters();
  const clock = createRedisClock();
  const validators = createProbeValidators();
  const types = createCheckTypes(options.checkTypes ?? checkTypes);
  const directory = createProbeDirectory({ redis: requests, clock, validators });
  const queues = createJobQueues(requests, log);
  const isGrace = createOutageGrace(background);
  const validatorsOf = createResultValidators();
  const deadlines = createDeadlines(background);
  const shared = { deadlines, retentionMs, counters, log };
  const drainAll = (claimIdleMs?: number): Promise<unknown> =>
    Promise.all([...directory.ids()].map((probe) => ingest.drain(probe, claimIdleMs)));
  const channels = openChannels(redisUrl, log, (probe) => {
    if (probe === undefined) void drainAll();
    // A probe that is not known yet is found by the next look at all.
    else if (directory.ids().has(probe)) void ingest.drain(probe);
  });
  const reads = createReads(requests, channels);
  const ingest = createIngest({
    redis: background,
    types,
    validatorsOf,
    lookUpPlace,
    preparePlace: options.preparePlace,
    isGrace,
    readers: reads,
    ...shared,
  });
  background.on('ready', () => {
    loadScripts(background, [...checkScripts, heartbeatScript]).catch((error: unknown) => {
      log.warn({ error }, 'scripts could not be loaded ahead; each is sent when first needed');
    });
  });

  const stopping = new AbortController();
  const loops = [
    repeat(stopping.signal, log, async () => {
      const more = await sweepDeadlines({ redis: background, clock, ingest, queues, isGrace, ...shared });
      return more ? 0 : SWEEP_EVERY_MS.from + Math.random() * (SWEEP_EVERY_MS.to - SWEEP_EVERY_MS.from);
    }),
    repeat(stopping.signal, log, async (round) => {
      await directory.refresh();
      await drainAll(round % CLAIM_EVERY === 0 ? CLAIM_IDLE_MS : undefined);
      return DRAIN_EVERY_MS;
    }),
  ];

  return {
    checks: {
      create: createChecks({ redis: requests, clock, directory, queues, types, ...shared }),
      read: reads.read,
    },
    probes: createProbeList(requests, clock, directory),
    probeRecords: createProbeRecords(requests, validators),
    counters,
    rateLimitRedis: requests,
    ready: async () => {
      try {
        const known = await directory.probes();
        const healthyProbes = known.filter((probe) => statusOf(probe).status === 'healthy').length;
        return { redis: requests.status === 'ready', healthyProbes };
      } catch {
        return { redis: false, healthyProbes: 0 };
      }
    },
    close: async () => {
      stopping.abort();
      channels.stop();
      await within(Promise.all(loops), 1_000);
      await within(Promise.all([ingest.close(), deadlines.flush()]), 500);
      await queues.close();
      await closeAll([requests, background, channels.connection]);
    },
  };
}

/**
 * Runs a piece of work for as long as the signal is not aborted.
 *
 * @param run returns the milliseconds until the next time; where it rejects, that is 300
 */
async function repeat(signal: AbortSignal, log: Log, run: (round: number) => Promise<number>): Promise<void> {
  for (let round = 0; !signal.aborted; round += 1) {
    const waitMs = await run(round).catch((error: unknown) => {
      // The connection says by itself that it is lost.
      if (!isStoreFault(error)) log.error({ error }, 'background work failed');
      return 300;
    });
    await sleep(waitMs, undefined, { signal }).catch(() => undefined);
  }
}
