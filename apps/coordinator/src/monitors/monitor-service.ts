import type { ProbeFacts } from '@vantage/summary';
import { within } from '@vantage/timers';

import type { Checks } from '../checks/checks.ts';
import { drawId } from '../checks/create/draw-id.ts';
import type { ProbeService } from '../probes/probe-service.ts';
import { continentOf } from '../probes/selection/continents.ts';
import type { BackgroundTask } from '../redis/background-tasks.ts';
import type { Store } from '../redis/open-store.ts';
import type { Script } from '../redis/scripts.ts';
import type { ReadDefinition } from './definition.ts';
import { createMonitorReads, createMonitorWrites } from './access-monitors.ts';
import { createEvaluations } from './schedule/evaluate-ticks.ts';
import { followMonitorsFile } from './file/follow-file.ts';
import { correctSchedule } from './schedule/correct-schedule.ts';
import { createOutbox } from './schedule/outbox.ts';
import type { MonitorReads, MonitorWrites } from './monitors.ts';
import { createReadStored, createTicks } from './schedule/run-ticks.ts';
import type { SendWebhook } from './webhooks/send-webhook.ts';
import { createWebhookQueue } from './webhooks/webhook-queue.ts';
import { monitorScripts } from './store/schedule-scripts.ts';

/** Interval of polls while no tick is due earlier; the next poll finds a new monitor. */
const POLL_INTERVAL_MS = 1_000;
const TAKE_OVER_EVERY_MS = 1_000;
const FILE_EVERY_MS = 2_000;
/** Interval at which due times are corrected after a step of the clock or a loss of data. */
const CORRECT_EVERY_MS = 15_000;

const MOST_MONITORS = 1_000;

export interface MonitorOptions {
  readonly readDefinition: ReadDefinition;
  /** Path of `monitors.yml`. */
  readonly file?: string | undefined;
  /** Number of monitors from which clients cannot create another one. Default 1,000. */
  readonly most?: number | undefined;
  /** Undefined without a secret to sign with. */
  readonly sendWebhook?: SendWebhook | undefined;
  /** Called with the delay of each started tick, milliseconds. */
  readonly observeStart?: ((lateMs: number) => void) | undefined;
}

export interface MonitorService {
  readonly monitors: MonitorReads & MonitorWrites;
  readonly scripts: readonly Script[];
  readonly tasks: readonly BackgroundTask[];
  /** Waits for evaluations and deliveries to webhooks, for at most half a second. Never rejects. */
  readonly close: () => Promise<void>;
}

export function createMonitorService(
  store: Store,
  probes: ProbeService,
  checks: Pick<Checks, 'create' | 'read'>,
  options: MonitorOptions,
): MonitorService {
  const { background: redis, clock, log } = store;
  const { readDefinition, file: path, most = MOST_MONITORS, observeStart = () => undefined } = options;
  const stopping = new AbortController();
  const readStored = createReadStored(readDefinition);
  const shared = { redis, clock, readStored, log };
  const evaluations = createEvaluations({
    ...shared,
    create: checks.create,
    read: checks.read,
    stopping: stopping.signal,
    factsOfProbes: () => factsOf(probes),
    readDefinition,
    drawId,
    onTask: () => void doTasks().catch(() => undefined),
  });
  const webhooks = createWebhookQueue({ redis, clock, drawId, log, sendWebhook: options.sendWebhook });
  const doTasks = createOutbox({
    redis,
    clock,
    log,
    read: checks.read,
    addMessages: webhooks.add,
  });
  const poll = createTicks({
    ...shared,
    drawId,
    create: checks.create,
    onStarted: evaluations.follow,
    observe: observeStart,
    pollIntervalMs: POLL_INTERVAL_MS,
  });
  const file = path === undefined ? undefined : followMonitorsFile({ path, redis, clock, readDefinition, log });

  return {
    monitors: { ...createMonitorReads(store, file), ...createMonitorWrites(store, readDefinition, most) },
    scripts: monitorScripts,
    tasks: [
      { name: 'monitors', everyMs: POLL_INTERVAL_MS, run: poll },
      { name: 'monitor evaluations', everyMs: TAKE_OVER_EVERY_MS, run: evaluations.takeOver },
      { name: 'monitor tasks', everyMs: TAKE_OVER_EVERY_MS, run: doTasks },
      { name: 'webhooks', everyMs: TAKE_OVER_EVERY_MS, run: webhooks.poll },
      { name: 'monitor schedule', everyMs: CORRECT_EVERY_MS, run: () => correctSchedule(redis, clock, readStored) },
      ...(file === undefined ? [] : [{ name: 'monitors file', everyMs: FILE_EVERY_MS, run: file.poll }]),
    ],
    close: async () => {
      stopping.abort();
      await within(Promise.all([evaluations.settled(), webhooks.close()]), 500);
    },
  };
}

async function factsOf(probes: ProbeService): Promise<ReadonlyMap<string, ProbeFacts>> {
  const known = await probes.directory.probes();
  return new Map(known.map(({ record }) => [record.id, { ...record, continent: continentOf(record.countryCode) }]));
}
