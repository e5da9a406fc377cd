import { within } from '@vantage/timers';

import type { ProbeService } from '../probes/probe-service.ts';
import { TICK_MS, type BackgroundTask } from '../redis/background-tasks.ts';
import type { Store } from '../redis/open-store.ts';
import type { Script } from '../redis/scripts.ts';
import { openCheckParts, openCreate, openIngest, type CheckServiceOptions } from './check-parts.ts';
import type { Checks } from './checks.ts';
import { startScript } from './create/enqueue-check.ts';
import {
  createIdempotencyStore,
  KEY_KEPT_MS,
  replaceScript,
  type IdempotencyStore,
} from './create/idempotency-store.ts';
import { CheckExpiry } from './expire-checks.ts';
import { followNotifications } from './ingest/follow-notifications.ts';
import type { Ingest } from './ingest/ingest.ts';
import { releaseScript } from './ingest/release-entries.ts';
import { createLiveChecks } from './read/follow-checks.ts';
import { createFollowers, followerScripts, type Followers } from './read/followers.ts';
import type { LiveChecks } from './read/live-check.ts';
import { recordScreenshotScript } from './screenshots/screenshot-quota.ts';
import { screenshotScripts } from './screenshots/screenshot-scripts.ts';
import type { CheckScreenshots } from './screenshots/screenshots.ts';
import { changesScript } from './store/check-changes.ts';
import { streamScripts } from './ingest/stream-scripts.ts';
import { checkScripts } from './store/records/check-scripts.ts';
import { deadlineScripts } from './store/deadlines.ts';
import { removeWaitingJobScript } from './store/job-queues.ts';
import type { Counters } from './store/counters.ts';
import { resultBudgetScripts } from './store/result-budget-scripts.ts';
import type { BudgetStatus, ResultBudget } from './store/result-budget.ts';
import { WithdrawnProbes } from './withdrawn-probes.ts';

/** Interval of polls for due deadlines, and at which stream entries of committed inline results are released. */
const EXPIRE_EVERY_MS = TICK_MS;
/** Interval of polls for suspended and removed probes. */
const WITHDRAWN_EVERY_MS = TICK_MS;
/** Interval at which the probe list is read, and every stream known to have entries: notifications can be lost. */
const DRAIN_EVERY_MS = 1_000;
/** Interval at which screenshots are passed on whose probe went offline, and overdue ones are given up. */
const WATCH_EVERY_MS = 1_000;
/**
 * Every n-th read of the probe list also claims stream entries that some coordinator read but has not acknowledged for
 * `CLAIM_IDLE_MS`.
 */
const CLAIM_EVERY = 4;
const CLAIM_IDLE_MS = 3_000;
/** Interval at which completed checks are added to the result budget. */
const BUDGET_EVERY_MS = TICK_MS;

/** Preloaded whenever Redis connects. */
const scripts: readonly Script[] = [
  ...checkScripts,
  ...deadlineScripts,
  removeWaitingJobScript,
  ...streamScripts,
  startScript,
  releaseScript,
  changesScript,
  replaceScript,
  ...screenshotScripts,
  recordScreenshotScript,
  ...resultBudgetScripts,
  ...followerScripts,
];

/** The stages of a check (create, ingest, screenshots, read), composed over the store. */
export interface CheckService {
  readonly checks: Checks;
  readonly live: LiveChecks;
  readonly idempotencyStore: IdempotencyStore;
  readonly counters: Readonly<Counters>;
  /** Use and limits of the memory for results, as of the last count. */
  readonly resultBudget: () => BudgetStatus;
  /** Resolves after the first successful read of the probe list and of the state of Redis. Never rejects. */
  readonly started: Promise<void>;
  readonly followers: Followers;
  readonly scripts: readonly Script[];
  readonly tasks: readonly BackgroundTask[];
  /** Finishes work under way, for at most half a second, then closes the queues. Never rejects. */
  readonly close: () => Promise<void>;
}

export function createCheckService(store: Store, probes: ProbeService, options: CheckServiceOptions): CheckService {
  const { requests, background, channels, clock, isGrace, master, gate, log } = store;
  const parts = openCheckParts(store, probes, options);
  const { shared, keptMs, budget, queues, reads, screenshots } = parts;
  const ingest = openIngest(parts, store, probes, options);
  const creation = openCreate(parts, store, probes, options);
  const followers = createFollowers(requests);
  const ending = { redis: background, clock, isGrace, gate, ingest, queues, screenshots, ...shared };
  const expiry = new CheckExpiry(ending);
  const withdrawn = new WithdrawnProbes({ ...ending, directory: probes.directory });
  followNotifications(store, probes, ingest);
  const { promise: started, resolve: hasStarted } = Promise.withResolvers<void>();

  return {
    checks: {
      ...creation,
      read: reads.read,
      screenshot: reads.screenshot,
      noteShed: () => {
        shared.counters.checksShed += 1;
      },
    },
    live: createLiveChecks({ redis: requests, channels, master, log }),
    followers,
    idempotencyStore: createIdempotencyStore(requests, { keepMs: Math.min(KEY_KEPT_MS, keptMs) }),
    counters: shared.counters,
    resultBudget: budget.status,
    started,
    scripts,
    tasks: [
      ...upkeep({ expiry, withdrawn, screenshots, budget, ingest }),
      { name: 'probes and results', everyMs: DRAIN_EVERY_MS, run: readProbes(store, probes, ingest, hasStarted) },
    ],
    close: async () => {
      followers.stop();
      const ended = Promise.all([ingest.close(), expiry.settled()]);
      await within(ended.then(budget.poll).then(shared.deadlines.flush, shared.deadlines.flush), 500);
      await queues.close();
    },
  };
}

/** @param hasStarted called each time that the probe list and the state of Redis were read */
function readProbes(
  { replicas, master }: Store,
  { directory }: ProbeService,
  ingest: Ingest,
  hasStarted: () => void,
): BackgroundTask['run'] {
  return async (round) => {
    await Promise.all([directory.refresh(), replicas.poll(), master.poll()]);
    hasStarted();
    const claimIdleMs = round % CLAIM_EVERY === 0 ? CLAIM_IDLE_MS : undefined;
    await Promise.all(directory.withEntries().map((probe) => ingest.drain(probe, claimIdleMs)));
  };
}

interface Upkeep {
  readonly expiry: CheckExpiry;
  readonly withdrawn: WithdrawnProbes;
  readonly screenshots: CheckScreenshots;
  readonly budget: ResultBudget;
  readonly ingest: Ingest;
}

/** The background tasks that end checks, pass screenshots on, bound the memory of results and release entries. */
function upkeep({ expiry, withdrawn, screenshots, budget, ingest }: Upkeep): readonly BackgroundTask[] {
  return [
    { name: 'screenshots', everyMs: WATCH_EVERY_MS, run: screenshots.watch },
    { name: 'result budget', everyMs: BUDGET_EVERY_MS, run: async () => again(await budget.poll()) },
    { name: 'deadlines', everyMs: EXPIRE_EVERY_MS, run: async () => again(await expiry.poll()) },
    { name: 'withdrawn probes', everyMs: WITHDRAWN_EVERY_MS, run: withdrawn.poll },
    { name: 'committed results', everyMs: EXPIRE_EVERY_MS, run: ingest.releaseCommitted },
  ];
}

function again(more: boolean): 'again' | undefined {
  return more ? 'again' : undefined;
}
