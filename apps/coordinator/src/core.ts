import {
  readResultNote,
  redisKeys,
  SCREENSHOT_BUDGET_MS,
  type AnyCheckType,
  type LookUpPlace,
} from '@vantage/contract';
import { checkTypes } from '@vantage/diagnostics/contract';
import { openFailFast, openSubscriber } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

import { checkScripts } from './checks/store/check-scripts.ts';
import { createCheckTypes } from './checks/store/check-type-cache.ts';
import type { Checks } from './checks/checks.ts';
import { createCounters, type Counters } from './checks/store/counters.ts';
import { changesScript } from './checks/store/check-changes.ts';
import { createAcceptScreenshot } from './checks/screenshots/validate-screenshot.ts';
import { createChecks } from './checks/create/create-check.ts';
import { createDeadlines, type Deadlines } from './checks/store/deadlines.ts';
import type { FinalResult } from './checks/ingest/committed-result.ts';
import { createFirstAnswers, replaceScript, type FirstAnswers } from './checks/create/idempotency-store.ts';
import { createLiveChecks } from './checks/read/follow-checks.ts';
import { createIngest } from './checks/ingest/ingest.ts';
import { createProbeLoad } from './checks/create/probe-capacity.ts';
import { createJobQueues, type JobQueues } from './checks/store/job-queues.ts';
import type { LiveChecks } from './checks/read/live-check.ts';
import { createPictureRoom, notePictureScript } from './checks/screenshots/screenshot-quota.ts';
import { createReads } from './checks/read/read-check.ts';
import { resultBudgetScripts } from './checks/store/result-budget-scripts.ts';
import { createResultBudget, type BudgetStatus } from './checks/store/result-budget.ts';
import { createResultValidators } from './checks/ingest/result-validators.ts';
import { screenshotScripts } from './checks/screenshots/screenshot-scripts.ts';
import { createScreenshots } from './checks/screenshots/screenshots.ts';
import { createStartCheck, startScript, type StartCheck } from './checks/create/enqueue-check.ts';
import { sweepDeadlines } from './checks/expire-checks.ts';
import { createFloodGuard } from './probes/key-quota.ts';
import { createProbeDirectory, heartbeatScript } from './probes/registry/probe-directory.ts';
import { createProbeList } from './probes/registry/list-probes.ts';
import { createProbeRecords, type ProbeRecords } from './probes/registry/probe-records.ts';
import { isHealthy, type KnownProbe } from './probes/registry/probe-status.ts';
import { createProbeValidators } from './probes/registry/probe-validators.ts';
import type { ProbeList } from './probes/registry/probe-list.ts';
import { openChannels } from './redis/channels.ts';
import { createRedisClock } from './redis/clock.ts';
import { closeAll, within } from './redis/connections.ts';
import type { Log } from './redis/log.ts';
import { createReplicaWait } from './redis/replica-wait.ts';
import { createOutageGrace } from './redis/outage-grace.ts';
import { loadScripts } from './redis/scripts.ts';
import { onStore } from './redis/store.ts';
import { startBackgroundTasks } from './background-tasks.ts';

/** Deadlines are looked at this often; the spread keeps coordinators from doing so in step. */
const SWEEP_EVERY_MS = { from: 150, to: 300 };

/** Hints of new results can be lost, so every stream is looked at this often. */
const DRAIN_EVERY_MS = 1_000;

/** Whether the probes that are at a screenshot are still there is looked at this often. */
const WATCH_EVERY_MS = 1_000;

/** Every so many of those looks take over what a coordinator that died was holding, for longer than a command may take. */
const CLAIM_EVERY = 4;
const CLAIM_IDLE_MS = 3_000;

/** How soon an agent that floods its keys is noticed; the coordinators take turns. */
const GUARD_EVERY_MS = 5_000;
/** A flood makes Redis slow for everyone, and for what ends it. */
const GUARD_PATIENCE_MS = 8_000;
/** Completed checks are counted together this often. */
const BUDGET_EVERY_MS = 250;
/** With the five seconds that the shortest check has, what has waited so long still ends on time. */
const LONGEST_QUEUE_MS = 2_000;
const PROBE_KEYS_MAX_BYTES = 256 * 1_048_576;
/** A picture is kept from when it comes, and the retention begins at the end of its check. */
const LONGEST_CHECK_MS = 60_000;
const PICTURES_MAX_BYTES = 256 * 1_048_576;

export interface CoreOptions {
  readonly redisUrl: string;
  /** Certificates in PEM that a TLS server may present; without them those that Node trusts. */
  readonly redisCertificates?: string | undefined;
  readonly log: Log;
  readonly lookUpPlace: LookUpPlace;
  /** Asks a registry about an address ahead of `lookUpPlace`; absent where the operator wants none asked. Never rejects. */
  readonly preparePlace?: ((address: string) => Promise<void>) | undefined;
  /** Bytes that the keys of one probe may take in Redis before its agent is switched off; 256 MiB where absent. */
  readonly probeKeysMaxBytes?: number | undefined;
  /** Bytes that the screenshots of all checks may take in Redis before the oldest go; 256 MiB where absent. */
  readonly picturesMaxBytes?: number | undefined;
  /** Bytes that the results of all checks, and those of one client, may take before the oldest go; see `ResultBudgetOptions`. */
  readonly resultsMaxBytes?: number | undefined;
  readonly clientResultsMaxBytes?: number | undefined;
  /** How many replicas a check must have reached before it is promised, and how long that may take; none where absent. */
  readonly replicas?: { readonly count: number; readonly withinMs: number } | undefined;
  /** Longest time that a job may be expected to wait in the queue of a probe, milliseconds; 2 s where absent. */
  readonly longestQueueMs?: number | undefined;
  /** Results are kept for this long after a check is completed. */
  readonly retentionSeconds: number;
  /** What a check lasts longer for its screenshot, milliseconds; 15 s by default. */
  readonly screenshotBudgetMs?: number | undefined;
  /** Wraps the queues that jobs are added to. */
  readonly wrapQueues?: ((queues: JobQueues) => JobQueues) | undefined;
  /** Wraps what starts a check, jobs included. */
  readonly wrapStart?: ((start: StartCheck) => StartCheck) | undefined;
  /** Told of each final result that has been shown, and how long after it was written, milliseconds. */
  readonly onFinal?: ((final: FinalResult, lagMs: number) => void) | undefined;
  /** The check types there are; without it those of the registry. */
  readonly checkTypes?: Readonly<Record<string, AnyCheckType>>;
}

/** Everything of the coordinator but its HTTP edge. */
export interface Core {
  readonly checks: Checks;
  readonly live: LiveChecks;
  readonly firstAnswers: FirstAnswers;
  readonly probes: ProbeList;
  readonly probeRecords: ProbeRecords;
  readonly counters: Readonly<Counters>;
  /** What results take, as of the last look. */
  readonly resultBudget: () => BudgetStatus;
  /** The probes as last looked at. Never rejects: without Redis there are none. */
  readonly knownProbes: () => Promise<readonly KnownProbe[]>;
  /** Resolves when Redis was there and the probes were looked at for the first time. Never rejects. */
  readonly started: Promise<void>;
  /** Never rejects: without Redis no probe is healthy. */
  readonly ready: () => Promise<{
    readonly redis: boolean;
    readonly healthyProbes: number;
    /** Background tasks that do not come to an end of their work. */
    readonly stalledTasks: readonly string[];
  }>;
  /** A connection that fails at once when Redis is away, for the counters of the rate limits. */
  readonly rateLimitRedis: Redis;
  /** Stops the background work and closes the connections, within two seconds. */
  readonly close: () => Promise<void>;
}

/** Starts at once, whether Redis is there or not, and goes on when it comes back. */
export function createCore(options: CoreOptions): Core {
  const { redisUrl, log, lookUpPlace } = options;
  const retentionMs = options.retentionSeconds * 1_000;
  const certificates = options.redisCertificates;
  const connection = (name: string) => ({ url: redisUrl, certificates, name: `vantage:coordinator:${name}`, log });
  const requests = openFailFast(connection('requests'));
  const background = openFailFast(connection('background'));
  const guard = openFailFast({ ...connection('guard'), replyWithinMs: GUARD_PATIENCE_MS });
  const counters = createCounters();
  const clock = createRedisClock();
  const validators = createProbeValidators();
  const types = createCheckTypes(options.checkTypes ?? checkTypes);
  const directory = createProbeDirectory({ redis: requests, clock, validators });
  const { onFinal, wrapQueues = same, wrapStart = same } = options;
  const plainQueues = createJobQueues(requests, log);
  const queues = wrapQueues(plainQueues);
  const startCheck = wrapStart(createStartCheck(requests, plainQueues, retentionMs));
  const isGrace = createOutageGrace(background);
  const validatorsOf = createResultValidators();
  const plainDeadlines = createDeadlines(background);
  const budget = createResultBudget({
    ...{ redis: background, keptMs: retentionMs + LONGEST_CHECK_MS, counters, log },
    ...{ maxBytes: options.resultsMaxBytes, maxClientBytes: options.clientResultsMaxBytes },
    onNoted: plainDeadlines.forget,
  });
  // A check stays among the deadlines until it is counted: if this process dies before, the sweep of another one finds it.
  const deadlines: Deadlines = {
    ...plainDeadlines,
    forget: (id, stored) => (stored === undefined ? plainDeadlines.forget(id) : budget.note(id, stored)),
  };
  const shared = { deadlines, retentionMs, counters, log };
  const drainAll = (claimIdleMs?: number): Promise<unknown> =>
    Promise.all([...directory.ids()].map((probe) => ingest.drain(probe, claimIdleMs)));
  const channels = openChannels(openSubscriber(connection('subscriber')), (probe, said = '') => {
    if (probe === undefined) {
      void drainAll();
      return;
    }
    // A probe that is not known yet is found by the next look at all.
    if (!directory.ids().has(probe)) return;
    const note = readResultNote(said);
    if (note === undefined) void ingest.drain(probe);
    else ingest.takeAhead(probe, note);
  });
  const load = createProbeLoad({
    listen: (id, listener) => channels.listen(redisKeys.checkEvents(id), listener),
    longestWaitMs: options.longestQueueMs ?? LONGEST_QUEUE_MS,
  });
  const { count = 0, withinMs = 0 } = options.replicas ?? {};
  const replicaConnection = count === 0 ? undefined : openFailFast(connection('replicas'));
  const replicas = createReplicaWait({
    ...{ connection: replicaConnection ?? background, writers: [requests, background] },
    ...{ replicas: count, withinMs, log },
  });
  const reads = createReads(requests, channels);
  const screenshots = createScreenshots({
    ...{ redis: background, queueRedis: requests, queues, clock, probes: directory.probes },
    ...{ accept: createAcceptScreenshot(), readers: reads, ...shared },
    room: createPictureRoom({
      ...{ redis: background, keptMs: retentionMs + LONGEST_CHECK_MS },
      maxBytes: options.picturesMaxBytes ?? PICTURES_MAX_BYTES,
    }),
  });
  const ingest = createIngest({
    redis: background,
    clock,
    screenshots,
    types,
    validatorsOf,
    lookUpPlace,
    preparePlace: options.preparePlace,
    isGrace,
    onFinal:
      onFinal &&
      ((final) =>
        void clock.now(background).then(
          (nowMs) => onFinal(final, nowMs - final.writtenAtMs),
          () => undefined,
        )),
    readers: reads,
    ...shared,
  });
  background.on('ready', () => {
    // What was written while it was away is in time for a moment; a hint may have come before this connection.
    void drainAll();
    loadScripts(background, [
      ...checkScripts,
      startScript,
      changesScript,
      replaceScript,
      ...screenshotScripts,
      notePictureScript,
      ...resultBudgetScripts,
      heartbeatScript,
    ]).catch((error: unknown) => {
      log.warn({ error }, 'scripts could not be loaded ahead; each is sent when first needed');
    });
  });

  const floodGuard = createFloodGuard({
    ...{ redis: guard, log },
    limitBytes: options.probeKeysMaxBytes ?? PROBE_KEYS_MAX_BYTES,
  });

  const { promise: started, resolve: hasStarted } = Promise.withResolvers<void>();
  const tasks = startBackgroundTasks(
    [
      {
        name: 'screenshots',
        run: async () => {
          await screenshots.watch();
          return WATCH_EVERY_MS;
        },
      },
      {
        name: 'key quotas',
        run: async () => {
          await onStore(guard, floodGuard.look);
          return GUARD_EVERY_MS;
        },
      },
      {
        name: 'result budget',
        run: async () => ((await budget.look()) ? 0 : BUDGET_EVERY_MS),
      },
      {
        name: 'deadlines',
        run: async () => {
          const more = await sweepDeadlines({
            ...{ redis: background, clock, ingest, queues, screenshots, isGrace },
            ...shared,
          });
          return more ? 0 : SWEEP_EVERY_MS.from + Math.random() * (SWEEP_EVERY_MS.to - SWEEP_EVERY_MS.from);
        },
      },
      {
        name: 'probes and results',
        run: async (round) => {
          await Promise.all([directory.refresh(), replicas.look()]);
          hasStarted();
          await drainAll(round % CLAIM_EVERY === 0 ? CLAIM_IDLE_MS : undefined);
          return DRAIN_EVERY_MS;
        },
      },
    ],
    log,
  );

  return {
    checks: {
      create: createChecks({
        ...{ redis: requests, clock, directory, startCheck, queues, load, replicas, screenshots, types },
        screenshotBudgetMs: options.screenshotBudgetMs ?? SCREENSHOT_BUDGET_MS,
        ...shared,
      }),
      read: reads.read,
      screenshot: reads.screenshot,
    },
    live: createLiveChecks(requests, channels, log),
    firstAnswers: createFirstAnswers(requests),
    probes: createProbeList(requests, clock, directory),
    probeRecords: createProbeRecords(requests, validators),
    counters,
    resultBudget: budget.status,
    started,
    knownProbes: () => directory.probes().catch(() => []),
    rateLimitRedis: requests,
    ready: async () => {
      try {
        const known = await directory.probes();
        const healthyProbes = known.filter(isHealthy).length;
        return { redis: requests.status === 'ready', healthyProbes, stalledTasks: tasks.stalled() };
      } catch {
        return { redis: false, healthyProbes: 0, stalledTasks: tasks.stalled() };
      }
    },
    close: async () => {
      channels.stop();
      await within(tasks.stop(), 1_000);
      await within(ingest.close().then(budget.look).then(deadlines.flush, deadlines.flush), 500);
      await queues.close();
      await closeAll([
        requests,
        background,
        guard,
        channels.connection,
        ...(replicaConnection ? [replicaConnection] : []),
      ]);
    },
  };
}

function same<T>(value: T): T {
  return value;
}
