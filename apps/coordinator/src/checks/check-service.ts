import {
  decodeNotification,
  HEARTBEAT_NOTIFICATION,
  isOversizedNotification,
  LONGEST_CHECK_MS,
  redisKeys,
  SCREENSHOT_BUDGET_MS,
  type AnyCheckType,
} from '@vantage/contract';
import { checkTypes } from '@vantage/diagnostics/contract';
import { noTracing, type Tracing } from '@vantage/telemetry';
import { within } from '@vantage/timers';

import type { ProbeService } from '../probes/probe-service.ts';
import { TICK_MS, type BackgroundTask } from '../redis/background-tasks.ts';
import type { Store } from '../redis/open-store.ts';
import type { Script } from '../redis/scripts.ts';
import type { CheckMetrics } from './check-metrics.ts';
import type { Checks } from './checks.ts';
import { createChecks } from './create/create-check.ts';
import { createStartCheck, startScript } from './create/enqueue-check.ts';
import { createIdempotencyStore, replaceScript, type IdempotencyStore } from './create/idempotency-store.ts';
import { createProbeCapacity } from './create/probe-capacity.ts';
import { traceStart } from './create/trace-start.ts';
import { CheckExpiry } from './expire-checks.ts';
import { createIngest, type Ingest, type IngestDependencies } from './ingest/ingest.ts';
import { releaseScript } from './ingest/release-entries.ts';
import { createResultValidators } from './ingest/result-validators.ts';
import { createLiveChecks } from './read/follow-checks.ts';
import { createFollowers, followerScripts, type Followers } from './read/followers.ts';
import type { LiveChecks } from './read/live-check.ts';
import { createReads } from './read/read-check.ts';
import { createScreenshotQuota, recordScreenshotScript } from './screenshots/screenshot-quota.ts';
import { screenshotScripts } from './screenshots/screenshot-scripts.ts';
import { createCheckScreenshots, type CheckScreenshots } from './screenshots/screenshots.ts';
import { createAcceptScreenshot } from './screenshots/validate-screenshot.ts';
import { changesScript } from './store/check-changes.ts';
import { checkScripts } from './store/check-scripts.ts';
import { createCheckTypes } from './store/check-type-cache.ts';
import { createCounters, type Counters } from './store/counters.ts';
import { createDeadlines, type Deadlines } from './store/deadlines.ts';
import { createJobQueues } from './store/job-queues.ts';
import { resultBudgetScripts } from './store/result-budget-scripts.ts';
import { createResultBudget, type BudgetStatus, type ResultBudget } from './store/result-budget.ts';
import { WithdrawnProbes } from './withdrawn-probes.ts';

/** Interval of polls for due deadlines, and for entries of results that are committed. */
const EXPIRE_EVERY_MS = TICK_MS;
/** Interval at which a change of the list of probes or of suspensions is noticed; nothing is read without one. */
const WITHDRAWN_EVERY_MS = TICK_MS;
/** Notifications can be lost, so every active stream is also read at this interval. */
const DRAIN_EVERY_MS = 1_000;
/** A probe counts as active for this long after a result. */
const ACTIVE_MS = 15_000;
/** Interval at which the probes that take screenshots are checked for liveness. */
const WATCH_EVERY_MS = 1_000;
/** Every n-th check for liveness also takes over entries that a dead coordinator had claimed. */
const CLAIM_EVERY = 4;
const CLAIM_IDLE_MS = 3_000;
/** Interval at which completed checks are added to the result budget. */
const BUDGET_EVERY_MS = TICK_MS;
/** A job may wait this long in the queue: the deadline allows for it and the five seconds of the shortest check. */
const LONGEST_QUEUE_MS = 2_000;
const SCREENSHOTS_MAX_BYTES = 256 * 1_048_576;

/** Preloaded into Redis at startup. */
const scripts: readonly Script[] = [
  ...checkScripts,
  startScript,
  releaseScript,
  changesScript,
  replaceScript,
  ...screenshotScripts,
  recordScreenshotScript,
  ...resultBudgetScripts,
  ...followerScripts,
];

export interface CheckServiceOptions extends Pick<IngestDependencies, 'lookUpPlace' | 'preparePlace'> {
  /** Maximum bytes of all screenshots in Redis; the oldest are removed first. Default 256 MiB. */
  readonly screenshotsMaxBytes?: number | undefined;
  /**
   * Maximum bytes of the results of all checks and of one client; the oldest are removed first. See
   * `ResultBudgetOptions`.
   */
  readonly resultsMaxBytes?: number | undefined;
  readonly clientResultsMaxBytes?: number | undefined;
  /** Longest expected queueing time of a job at a probe, milliseconds. Default 2 s. */
  readonly longestQueueMs?: number | undefined;
  /** Time for which results are kept after their check is completed. */
  readonly retentionSeconds: number;
  /** Extra time of a check with a screenshot, milliseconds. Default 15 s. */
  readonly screenshotBudgetMs?: number | undefined;
  readonly tracing?: Tracing | undefined;
  readonly metrics?: CheckMetrics | undefined;
  /** The available check types; by default those of the registry. */
  readonly checkTypes?: Readonly<Record<string, AnyCheckType>>;
}

/** Composes the stages of a check (create, ingest, screenshots, read) over the store. */
export interface CheckService {
  readonly checks: Checks;
  readonly live: LiveChecks;
  readonly idempotencyStore: IdempotencyStore;
  readonly counters: Readonly<Counters>;
  /** Bytes of stored results, as of the last count. */
  readonly resultBudget: () => BudgetStatus;
  /** Resolves after the first successful read of the probe list. Never rejects. */
  readonly started: Promise<void>;
  readonly followers: Followers;
  readonly scripts: readonly Script[];
  readonly tasks: readonly BackgroundTask[];
  /** Finishes or releases all claimed entries within a second. Never rejects. */
  readonly close: () => Promise<void>;
}

/** Dependencies of every stage. */
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
  // The retention of a screenshot starts when it is stored, that of its check when the check ends.
  const keptMs = retentionMs + LONGEST_CHECK_MS;
  const counters = createCounters();
  const { deadlines, budget } = createCountedDeadlines(store, options, counters, keptMs);
  const shared: Shared = { deadlines, retentionMs, counters, tracing, log };
  const types = createCheckTypes(options.checkTypes ?? checkTypes);
  const queues = createJobQueues(requests, log);
  const reads = createReads(requests, channels, master);
  const maxBytes = options.screenshotsMaxBytes ?? SCREENSHOTS_MAX_BYTES;
  const screenshots = createCheckScreenshots({
    redis: background,
    queueRedis: requests,
    queues,
    clock,
    probes: directory.probes,
    accept: createAcceptScreenshot(),
    readers: reads,
    ...shared,
    quota: createScreenshotQuota({ redis: background, keptMs, maxBytes }),
  });
  const ingest = createIngest({
    redis: background,
    clock,
    screenshots,
    types,
    validatorsOf: createResultValidators(),
    isGrace,
    gate,
    lookUpPlace,
    preparePlace,
    metrics,
    readers: reads,
    oversize: probes.oversize,
    ...shared,
  });
  const create = createChecks({
    redis: requests,
    clock,
    directory,
    queues,
    replicas: store.replicas,
    writes: store.writes,
    screenshots,
    types,
    metrics,
    startCheck: traceStart(createStartCheck(requests, queues, retentionMs), tracing),
    load: createProbeCapacity({
      listen: (id, listener) => channels.listen(redisKeys.checkEvents(id), listener),
      longestWaitMs: options.longestQueueMs ?? LONGEST_QUEUE_MS,
    }),
    screenshotBudgetMs: options.screenshotBudgetMs ?? SCREENSHOT_BUDGET_MS,
    ...shared,
  });
  const followers = createFollowers(requests);
  const ending = { redis: background, clock, isGrace, gate, ingest, queues, screenshots, ...shared };
  const expiry = new CheckExpiry(ending);
  const withdrawn = new WithdrawnProbes({ ...ending, directory });
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
    followers,
    idempotencyStore: createIdempotencyStore(requests),
    counters,
    resultBudget: budget.status,
    started,
    scripts,
    tasks: [
      ...upkeep({ expiry, withdrawn, screenshots, budget, ingest }),
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
      followers.stop();
      const ended = Promise.all([ingest.close(), expiry.settled()]);
      await within(ended.then(budget.look).then(deadlines.flush, deadlines.flush), 500);
      await queues.close();
    },
  };
}

interface Upkeep {
  readonly expiry: CheckExpiry;
  readonly withdrawn: WithdrawnProbes;
  readonly screenshots: CheckScreenshots;
  readonly budget: ResultBudget;
  readonly ingest: Ingest;
}

/** The background tasks that expire and count checks. */
function upkeep({ expiry, withdrawn, screenshots, budget, ingest }: Upkeep): readonly BackgroundTask[] {
  return [
    { name: 'screenshots', everyMs: WATCH_EVERY_MS, run: screenshots.watch },
    { name: 'result budget', everyMs: BUDGET_EVERY_MS, run: async () => again(await budget.look()) },
    { name: 'deadlines', everyMs: EXPIRE_EVERY_MS, run: async () => again(await expiry.look()) },
    { name: 'withdrawn probes', everyMs: WITHDRAWN_EVERY_MS, run: withdrawn.look },
    { name: 'committed results', everyMs: EXPIRE_EVERY_MS, run: ingest.releaseCommitted },
  ];
}

/**
 * Keeps a check in the set of deadlines until it is counted: if this process dies first, another coordinator finds it
 * there.
 */
function createCountedDeadlines(
  { background, log }: Store,
  { resultsMaxBytes, clientResultsMaxBytes }: CheckServiceOptions,
  counters: Counters,
  keptMs: number,
): { readonly deadlines: Deadlines; readonly budget: ResultBudget } {
  const plain = createDeadlines(background);
  const budget = createResultBudget({
    redis: background,
    keptMs,
    counters,
    log,
    onNoted: plain.forget,
    maxBytes: resultsMaxBytes,
    maxClientBytes: clientResultsMaxBytes,
  });
  const forget: Deadlines['forget'] = (id, stored) =>
    stored === undefined ? plain.forget(id) : budget.note(id, stored);
  return { deadlines: { ...plain, forget }, budget };
}

/**
 * On a notification commits its inline result, notes a changed heartbeat, or drains the stream; after a reconnection
 * drains all streams.
 */
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
    // An unknown probe is found by the next refresh of the directory.
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
    else ingest.commitInline(probe, note);
  });
  // After an outage, results written during it still count for a grace period; notifications of them may have been
  // missed.
  gate.onOpen(() => void drainAll());
}

function again(more: boolean): 'again' | undefined {
  return more ? 'again' : undefined;
}
