import {
  decodeNotification,
  HEARTBEAT_NOTIFICATION,
  isOversizedNotification,
  redisKeys,
  SCREENSHOT_BUDGET_MS,
  type AnyCheckType,
} from '@vantage/contract';
import { checkTypes } from '@vantage/diagnostics/contract';
import { noTracing, type Tracing } from '@vantage/telemetry';
import { within } from '@vantage/timers';

import type { ProbeService } from '../probes/probe-service.ts';
import type { BackgroundTask } from '../redis/background-tasks.ts';
import type { Store } from '../redis/open-store.ts';
import type { Script } from '../redis/scripts.ts';
import type { CheckMetrics } from './check-metrics.ts';
import type { Checks } from './checks.ts';
import { createChecks } from './create/create-check.ts';
import { createStartCheck, startScript } from './create/enqueue-check.ts';
import { createFirstAnswers, replaceScript, type FirstAnswers } from './create/idempotency-store.ts';
import { createProbeLoad } from './create/probe-capacity.ts';
import { traceStart } from './create/trace-start.ts';
import { CheckExpiry } from './expire-checks.ts';
import { createIngest, type Ingest, type IngestDependencies } from './ingest/ingest.ts';
import { createResultValidators } from './ingest/result-validators.ts';
import { createLiveChecks } from './read/follow-checks.ts';
import type { LiveChecks } from './read/live-check.ts';
import { createReads } from './read/read-check.ts';
import { createPictureRoom, notePictureScript } from './screenshots/screenshot-quota.ts';
import { screenshotScripts } from './screenshots/screenshot-scripts.ts';
import { createScreenshots, type Screenshots } from './screenshots/screenshots.ts';
import { createAcceptScreenshot } from './screenshots/validate-screenshot.ts';
import { changesScript } from './store/check-changes.ts';
import { checkScripts } from './store/check-scripts.ts';
import { createCheckTypes } from './store/check-type-cache.ts';
import { createCounters, type Counters } from './store/counters.ts';
import { createDeadlines, type Deadlines } from './store/deadlines.ts';
import { createJobQueues } from './store/job-queues.ts';
import { resultBudgetScripts } from './store/result-budget-scripts.ts';
import { createResultBudget, type BudgetStatus, type ResultBudget } from './store/result-budget.ts';

/** Deadlines are looked at this often; the spread keeps coordinators from doing so in step. */
const SWEEP_EVERY_MS = { from: 150, to: 300 };
/** Hints of new results can be lost, so every stream that has entries is read this often. */
const DRAIN_EVERY_MS = 1_000;
/** A probe that writes results is likely to write more. */
const ACTIVE_MS = 15_000;
/** Whether the probes that are at a screenshot are still there is looked at this often. */
const WATCH_EVERY_MS = 1_000;
/** Every so many of those looks take over what a coordinator that died was holding, for longer than a command may take. */
const CLAIM_EVERY = 4;
const CLAIM_IDLE_MS = 3_000;
/** Completed checks are counted together this often. */
const BUDGET_EVERY_MS = 250;
/** With the five seconds that the shortest check has, what has waited so long still ends on time. */
const LONGEST_QUEUE_MS = 2_000;
/** A picture is kept from when it comes, and the retention begins at the end of its check. */
const LONGEST_CHECK_MS = 60_000;
const PICTURES_MAX_BYTES = 256 * 1_048_576;

/** Loaded ahead of their first run. */
const scripts: readonly Script[] = [
  ...[...checkScripts, startScript, changesScript, replaceScript],
  ...[...screenshotScripts, notePictureScript, ...resultBudgetScripts],
];

export interface CheckServiceOptions extends Pick<IngestDependencies, 'lookUpPlace' | 'preparePlace'> {
  /** Bytes that the screenshots of all checks may take in Redis before the oldest go; 256 MiB where absent. */
  readonly picturesMaxBytes?: number | undefined;
  /** Bytes that the results of all checks, and those of one client, may take before the oldest go; see `ResultBudgetOptions`. */
  readonly resultsMaxBytes?: number | undefined;
  readonly clientResultsMaxBytes?: number | undefined;
  /** Longest time that a job may be expected to wait in the queue of a probe, milliseconds; 2 s where absent. */
  readonly longestQueueMs?: number | undefined;
  /** Results are kept for this long after a check is completed. */
  readonly retentionSeconds: number;
  /** What a check lasts longer for its screenshot, milliseconds; 15 s by default. */
  readonly screenshotBudgetMs?: number | undefined;
  readonly tracing?: Tracing | undefined;
  readonly metrics?: CheckMetrics | undefined;
  /** The check types there are; without it those of the registry. */
  readonly checkTypes?: Readonly<Record<string, AnyCheckType>>;
}

/** The stages of a check, put together: create, ingest, screenshots, read, over the store. */
export interface CheckService {
  readonly checks: Checks;
  readonly live: LiveChecks;
  readonly firstAnswers: FirstAnswers;
  readonly counters: Readonly<Counters>;
  /** What results take, as of the last look. */
  readonly resultBudget: () => BudgetStatus;
  /** Resolves when Redis was there and the probes were looked at for the first time. Never rejects. */
  readonly started: Promise<void>;
  readonly scripts: readonly Script[];
  readonly tasks: readonly BackgroundTask[];
  /** Leaves nothing for another coordinator to find, within a second. Never rejects. */
  readonly close: () => Promise<void>;
}

/** What every stage needs. */
interface Shared {
  readonly deadlines: Deadlines;
  readonly retentionMs: number;
  readonly counters: Counters;
  readonly tracing: Tracing;
  readonly log: Store['log'];
}

export function createCheckService(store: Store, probes: ProbeService, options: CheckServiceOptions): CheckService {
  const { requests, background, channels, clock, isGrace, master, gate, log } = store;
  const { directory } = probes;
  const { tracing = noTracing, metrics, lookUpPlace, preparePlace } = options;
  const retentionMs = options.retentionSeconds * 1_000;
  const keptMs = retentionMs + LONGEST_CHECK_MS;
  const counters = createCounters();
  const { deadlines, budget } = createCountedDeadlines(store, options, counters, keptMs);
  const shared: Shared = { deadlines, retentionMs, counters, tracing, log };
  const types = createCheckTypes(options.checkTypes ?? checkTypes);
  const queues = createJobQueues(requests, log);
  const reads = createReads(requests, channels, master);
  const maxBytes = options.picturesMaxBytes ?? PICTURES_MAX_BYTES;
  const screenshots = createScreenshots({
    ...{ redis: background, queueRedis: requests, queues, clock, probes: directory.probes },
    ...{ accept: createAcceptScreenshot(), readers: reads, ...shared },
    room: createPictureRoom({ redis: background, keptMs, maxBytes }),
  });
  const ingest = createIngest({
    ...{ redis: background, clock, screenshots, types, validatorsOf: createResultValidators(), isGrace, gate },
    ...{ lookUpPlace, preparePlace, metrics, readers: reads, oversize: probes.oversize, ...shared },
  });
  const create = createChecks({
    ...{
      redis: requests,
      clock,
      directory,
      queues,
      replicas: store.replicas,
      writes: store.writes,
      screenshots,
      types,
      metrics,
    },
    startCheck: traceStart(createStartCheck(requests, queues, retentionMs), tracing),
    load: createProbeLoad({
      listen: (id, listener) => channels.listen(redisKeys.checkEvents(id), listener),
      longestWaitMs: options.longestQueueMs ?? LONGEST_QUEUE_MS,
    }),
    screenshotBudgetMs: options.screenshotBudgetMs ?? SCREENSHOT_BUDGET_MS,
    ...shared,
  });
  const expiry = new CheckExpiry({ redis: background, clock, isGrace, gate, ingest, queues, screenshots, ...shared });
  takeHints(store, probes, ingest);
  const drainWritten = async (claimIdleMs?: number): Promise<void> => {
    await Promise.all(directory.withEntries().map((probe) => ingest.drain(probe, claimIdleMs)));
  };
  const { promise: started, resolve: hasStarted } = Promise.withResolvers<void>();

  return {
    checks: {
      create,
      read: reads.read,
      screenshot: reads.screenshot,
    },
    live: createLiveChecks({ redis: requests, channels, master, log }),
    firstAnswers: createFirstAnswers(requests),
    counters,
    resultBudget: budget.status,
    started,
    scripts,
    tasks: [
      ...upkeep({ expiry, screenshots, budget }),
      {
        name: 'probes and results',
        everyMs: DRAIN_EVERY_MS,
        run: async (round) => {
          await Promise.all([directory.refresh(), store.replicas.look(), master.look()]);
          hasStarted();
          await drainWritten(round % CLAIM_EVERY === 0 ? CLAIM_IDLE_MS : undefined);
        },
      },
    ],
    close: async () => {
      const ended = Promise.all([ingest.close(), expiry.settled()]);
      await within(ended.then(budget.look).then(deadlines.flush, deadlines.flush), 500);
      await queues.close();
    },
  };
}

interface Upkeep {
  readonly expiry: CheckExpiry;
  readonly screenshots: Screenshots;
  readonly budget: ResultBudget;
}

/** The tasks that end and count checks, whether or not a client waits. */
function upkeep({ expiry, screenshots, budget }: Upkeep): readonly BackgroundTask[] {
  return [
    { name: 'screenshots', everyMs: WATCH_EVERY_MS, run: screenshots.watch },
    { name: 'result budget', everyMs: BUDGET_EVERY_MS, run: async () => again(await budget.look()) },
    { name: 'deadlines', everyMs: SWEEP_EVERY_MS, run: async () => again(await expiry.look()) },
  ];
}

/** A check stays among the deadlines until it is counted: if this process dies before, the sweep of another one finds it. */
function createCountedDeadlines(
  { background, log }: Store,
  { resultsMaxBytes, clientResultsMaxBytes }: CheckServiceOptions,
  counters: Counters,
  keptMs: number,
): { readonly deadlines: Deadlines; readonly budget: ResultBudget } {
  const plain = createDeadlines(background);
  const budget = createResultBudget({
    ...{ redis: background, keptMs, counters, log, onNoted: plain.forget },
    ...{ maxBytes: resultsMaxBytes, maxClientBytes: clientResultsMaxBytes },
  });
  const forget: Deadlines['forget'] = (id, stored) =>
    stored === undefined ? plain.forget(id) : budget.note(id, stored);
  return { deadlines: { ...plain, forget }, budget };
}

/** Drains the stream of a probe when a hint says so, and all of them after a time without connection. */
function takeHints(
  { gate, channels }: Store,
  { directory, oversize, notifications }: ProbeService,
  ingest: Ingest,
): void {
  const drainAll = async (): Promise<void> => {
    await Promise.all([...directory.ids()].map((probe) => ingest.drain(probe)));
  };
  channels.onHint((probe, said = '') => {
    if (probe === undefined) {
      directory.noteAllChanged();
      void drainAll();
      return;
    }
    // A probe that is not known yet is found by the next look at all.
    if (!directory.ids().has(probe)) return;
    notifications.note(probe);
    if (said === HEARTBEAT_NOTIFICATION) {
      directory.noteChanged(probe);
      return;
    }
    directory.noteActive([probe], ACTIVE_MS);
    if (isOversizedNotification(said)) oversize.note(probe);
    const note = decodeNotification(said);
    if (note === undefined) void ingest.drain(probe);
    else ingest.takeAhead(probe, note);
  });
  // What was written while it was away is in time for a moment; a hint may have come before this connection.
  gate.onOpen(() => void drainAll());
}

function again(more: boolean): 'again' | undefined {
  return more ? 'again' : undefined;
}
