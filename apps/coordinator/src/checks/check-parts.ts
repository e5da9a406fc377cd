import { LONGEST_CHECK_MS, redisKeys, SCREENSHOT_BUDGET_MS, type AnyCheckType } from '@vantage/contract';
import { checkTypes } from '@vantage/diagnostics/contract';
import { noTracing, type Tracing } from '@vantage/telemetry';

import type { ProbeService } from '../probes/probe-service.ts';
import type { Store } from '../redis/open-store.ts';
import type { CheckMetrics } from './check-metrics.ts';
import type { Checks } from './checks.ts';
import { createChecks } from './create/create-check.ts';
import { createStartCheck } from './create/enqueue-check.ts';
import { createProbeCapacity } from './create/probe-capacity.ts';
import { traceStart } from './create/trace-start.ts';
import { createIngest, type Ingest, type IngestDependencies } from './ingest/ingest.ts';
import { resultValidators } from './ingest/result-validators.ts';
import { createReads, type Reads } from './read/read-check.ts';
import { createScreenshotQuota } from './screenshots/screenshot-quota.ts';
import { createCheckScreenshots, type CheckScreenshots } from './screenshots/screenshots.ts';
import { createAcceptScreenshot } from './screenshots/validate-screenshot.ts';
import { createCheckTypes, type CheckTypes } from './store/check-type-cache.ts';
import { createCounters, type Counters } from './store/counters.ts';
import { createDeadlines, type Deadlines } from './store/deadlines.ts';
import { createJobQueues, type JobQueues } from './store/job-queues.ts';
import { createResultBudget, type ResultBudget } from './store/result-budget.ts';

/** Default of `longestQueueMs`. */
const LONGEST_QUEUE_MS = 2_000;
const SCREENSHOTS_MAX_BYTES = 256 * 1_048_576;

export interface CheckServiceOptions extends Pick<IngestDependencies, 'lookUpPlace' | 'preparePlace'> {
  /** Maximum bytes of all screenshots in Redis; the oldest are removed first. Default 256 MiB. */
  readonly screenshotsMaxBytes?: number | undefined;
  /**
   * Maximum bytes of the results of all checks; beyond it the oldest checks of the client with the most bytes are
   * removed. Default: see `ResultBudgetOptions`.
   */
  readonly resultsMaxBytes?: number | undefined;
  /** Maximum bytes of the results of one client; the oldest are removed first. Default: see `ResultBudgetOptions`. */
  readonly clientResultsMaxBytes?: number | undefined;
  /** Longest expected queueing time of a job at a probe, milliseconds. Default 2 s. */
  readonly longestQueueMs?: number | undefined;
  /** Longest time for which results are kept after their check is completed. */
  readonly retentionSeconds: number;
  /** Time that a pending screenshot adds to the deadline of its check, milliseconds. Default 15 s. */
  readonly screenshotBudgetMs?: number | undefined;
  readonly tracing?: Tracing | undefined;
  readonly metrics?: CheckMetrics | undefined;
  /** The available check types; by default those of the registry. */
  readonly checkTypes?: Readonly<Record<string, AnyCheckType>>;
}

/** Dependencies that several stages share. */
export interface Shared {
  readonly deadlines: Deadlines;
  readonly retentionMs: number;
  readonly counters: Counters;
  readonly tracing: Tracing;
  readonly log: Store['log'];
}

/** The parts of a check service that several stages use. */
export interface CheckParts {
  readonly shared: Shared;
  /** The longest time from the start of a check until its results are gone. */
  readonly keptMs: number;
  readonly budget: ResultBudget;
  readonly types: CheckTypes;
  readonly queues: JobQueues;
  readonly reads: Reads;
  readonly screenshots: CheckScreenshots;
}

export function openCheckParts(store: Store, { directory }: ProbeService, options: CheckServiceOptions): CheckParts {
  const { requests, background, channels, clock, master, log } = store;
  const { tracing = noTracing } = options;
  const retentionMs = options.retentionSeconds * 1_000;
  // This covers screenshots too: each expires with its check.
  const keptMs = retentionMs + LONGEST_CHECK_MS;
  const counters = createCounters();
  const { deadlines, budget } = createCountedDeadlines(store, options, counters, keptMs);
  const shared: Shared = { deadlines, retentionMs, counters, tracing, log };
  const types = createCheckTypes(options.checkTypes ?? checkTypes);
  const queues = createJobQueues(requests, log);
  directory.onRemoved(queues.forget);
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
  return { shared, keptMs, budget, types, queues, reads, screenshots };
}

export function openIngest(
  { shared, types, reads, screenshots }: CheckParts,
  { background, clock, isGrace, gate }: Store,
  { oversize }: ProbeService,
  { lookUpPlace, preparePlace, metrics }: CheckServiceOptions,
): Ingest {
  return createIngest({
    redis: background,
    clock,
    screenshots,
    types,
    validatorsOf: resultValidators,
    isGrace,
    gate,
    lookUpPlace,
    preparePlace,
    metrics,
    readers: reads,
    oversize,
    ...shared,
  });
}

export function openCreate(
  { shared, types, queues, screenshots }: CheckParts,
  { requests, channels, clock, replicas, writes }: Store,
  { directory }: ProbeService,
  { metrics, longestQueueMs, screenshotBudgetMs }: CheckServiceOptions,
): Pick<Checks, 'select' | 'create'> {
  const { retentionMs, tracing } = shared;
  const load = createProbeCapacity({
    listen: (id, listener) => channels.listen(redisKeys.checkEvents(id), listener),
    longestWaitMs: longestQueueMs ?? LONGEST_QUEUE_MS,
  });
  directory.onRemoved(load.forget);
  return createChecks({
    redis: requests,
    clock,
    directory,
    queues,
    replicas,
    writes,
    screenshots,
    types,
    metrics,
    startCheck: traceStart(createStartCheck(requests, queues, retentionMs), tracing),
    load,
    screenshotBudgetMs: screenshotBudgetMs ?? SCREENSHOT_BUDGET_MS,
    ...shared,
  });
}

/**
 * Keeps a completed check in the set of deadlines until the result budget has counted it: if this process dies before,
 * another coordinator finds the check there.
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
