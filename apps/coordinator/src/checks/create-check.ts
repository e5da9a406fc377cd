import { randomBytes } from 'node:crypto';

import { redisKeys, screenshotJobId, type Job } from '@vantage/contract';
import { isCluster } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

import type { ProbeDirectory } from '../probes/probe-directory.ts';
import type { KnownProbe } from '../probes/probe-status.ts';
import { selectProbes, type Selection } from '../probes/select-probes.ts';
import type { RedisClock } from '../redis/clock.ts';
import { within } from '../redis/connections.ts';
import type { ReplicaWait } from '../redis/replica-wait.ts';
import { isStoreFault, onStore } from '../redis/store.ts';
import type { CheckTypes } from './check-types.ts';
import { removeCheck, settle, writeCheck, type NewScreenshot } from './check-records.ts';
import { QueuesFull, StoreUnavailable, type AcceptedRequest, type Checks } from './checks.ts';
import { dispatchFailure, errorResult } from './coordinator-results.ts';
import type { Counters } from './counters.ts';
import type { Deadlines } from './deadlines.ts';
import type { JobQueues } from './job-queues.ts';
import type { ProbeLoad } from './probe-load.ts';
import type { Screenshots } from './screenshots.ts';

export interface CreateCheckDependencies {
  readonly redis: Redis;
  readonly clock: RedisClock;
  readonly directory: ProbeDirectory;
  readonly queues: JobQueues;
  readonly types: CheckTypes;
  readonly deadlines: Deadlines;
  readonly load: ProbeLoad;
  readonly replicas: ReplicaWait;
  readonly screenshots: Pick<Screenshots, 'plan' | 'enqueue' | 'passOn'>;
  readonly retentionMs: number;
  /** What a check lasts longer for its screenshot. */
  readonly screenshotBudgetMs: number;
  readonly counters: Counters;
}

/** A caller waits this long at most for what is removed again; without Redis the sweep does it at the deadline. */
const TAKE_BACK_MS = 200;

const BROKEN_QUEUE = 'The queue of the probe is broken.';

/**
 * Starts checks. The order is what the terminal guarantee rests on: deadline and record first, then the jobs. Whatever dies
 * in between, the sweep ends the check. All of it is sent at once, on one connection, on which Redis keeps the order; it is
 * promised when all of it is answered.
 */
export function createChecks(dependencies: CreateCheckDependencies): Checks['create'] {
  const { redis, clock, directory, types, counters } = dependencies;
  return (request, admit) =>
    onStore(redis, async () => {
      const known = await directory.probes();
      const selection = selectWithRoom(dependencies, known, request);
      if (!selection.selected) {
        counters.checksRefused += 1;
        const { selected: _, ...refusal } = selection;
        return { created: false, ...refusal };
      }
      if (admit !== undefined && !(await admit(selection.probes.length))) {
        return { created: false, reason: 'not-admitted' };
      }
      const id = randomBytes(16).toString('base64url');
      const createdAt = await clock.now(redis);
      types.remember(id, request.checkType);
      const wanted = request.checkType.screenshot?.(request.params);
      const screenshot =
        wanted === undefined ? undefined : dependencies.screenshots.plan(wanted, known, selection.probes);
      await start(dependencies, id, createdAt, request, { ...selection, screenshot });
      counters.checksCreated += 1;
      return { created: true, checkId: id, probes: [...selection.probes] };
    });
}

/**
 * Among probes that have room, where it is left to us which; probes that were asked for by name must all have room.
 *
 * @throws QueuesFull
 */
function selectWithRoom(
  { load, counters }: CreateCheckDependencies,
  known: readonly KnownProbe[],
  { checkType: { type }, limit, probes, locations }: AcceptedRequest,
): Selection {
  const select = (from: readonly KnownProbe[]): Selection =>
    selectProbes(from, { type, limit, probes, locations, tieBreak: randomTieBreak() });
  const selection = select(known);
  if (!selection.selected) return selection;
  const full = new Set(
    known
      .filter(({ record }) => selection.probes.includes(record.id) && !selection.offline.has(record.id))
      .filter((probe) => !load.hasRoom(probe, type))
      .map(({ record }) => record.id),
  );
  if (full.size === 0) return selection;
  const others =
    probes === undefined ? select(known.filter((probe) => load.hasRoom(probe, type))) : ({ selected: false } as const);
  if (others.selected) return others;
  counters.checksRefused += 1;
  throw new QueuesFull(`The probes have as many ${type} checks to do as they can end on time.`);
}

interface Chosen {
  readonly probes: readonly string[];
  /** Those of them that cannot take a job now, with the sentence that says why. */
  readonly offline: ReadonlyMap<string, string>;
  readonly screenshot: NewScreenshot | undefined;
}

async function start(
  dependencies: CreateCheckDependencies,
  id: string,
  createdAt: number,
  { checkType, submittedHost, params }: AcceptedRequest,
  { probes, offline, screenshot }: Chosen,
): Promise<void> {
  const { redis, queues, deadlines, load, replicas, screenshots, retentionMs, screenshotBudgetMs, counters } =
    dependencies;
  const type = checkType.type;
  const ofResults = createdAt + Math.ceil(checkType.budgetMs(params));
  // The results have no longer for it: only the check waits for its screenshot.
  const deadlineAt = ofResults + (screenshot?.state === 'pending' ? screenshotBudgetMs : 0);
  const record = { id, type, host: submittedHost, createdAt, deadlineAt, probes, screenshot };
  const written = writeCheck(redis, record, retentionMs);
  // On a cluster they go to several servers, which keep no order among them.
  if (isCluster(redis)) await Promise.allSettled([written]);
  const job: Job = { v: 1, checkId: id, type, params, deadlineAt: ofResults };
  const online = probes.filter((probe) => !offline.has(probe));
  load.added(id, online, type, deadlineAt - createdAt);
  const adding = online.map((probe) => queues.add(probe, job));
  // Behind the results' own jobs in the queue of its probe.
  const photographing =
    screenshot?.state === 'pending'
      ? screenshots.enqueue(id, screenshot.probe, screenshot.params, deadlineAt)
      : Promise.resolve();
  const [recorded, photographed, ...added] = await Promise.allSettled([written, photographing, ...adding]);
  const refusals = added.flatMap((outcome, index) =>
    outcome.status === 'rejected' ? [{ probe: online[index]!, error: outcome.reason as unknown }] : [],
  );
  try {
    if (recorded.status === 'rejected') throw recorded.reason;
    const fault = refusals.find(({ error }) => isStoreFault(error));
    if (fault !== undefined) throw fault.error;
    const refusal = photographed.status === 'rejected' ? (photographed.reason as unknown) : undefined;
    if (isStoreFault(refusal)) throw refusal;
    // What is left are probes whose own keys are broken, which their agents can write: it is their share alone that ends.
    const failed = refusals.map(({ probe }) => without(probe, 'internal_error', BROKEN_QUEUE, createdAt));
    const absent = [...offline].map(([probe, why]) => without(probe, 'probe_offline', why, createdAt));
    if (failed.length + absent.length > 0) {
      await settle(redis, id, [...failed, ...absent], { retentionMs, deadlines });
    }
    counters.probesOffline += absent.length;
    await replicas.settled([redisKeys.deadlines, redisKeys.check(id)]);
    if (refusal !== undefined && screenshot?.state === 'pending') {
      await screenshots.passOn(id, screenshot.probe, dispatchFailure('internal_error', BROKEN_QUEUE));
    }
  } catch (error) {
    load.removed(id);
    const photographers = screenshot?.state === 'pending' ? [screenshot.probe] : [];
    await within(takeBack(redis, queues, id, online, photographers), TAKE_BACK_MS);
    throw new StoreUnavailable('The check could not be enqueued', { cause: error });
  }
}

function without(
  probe: string,
  code: 'internal_error' | 'probe_offline',
  why: string,
  atMs: number,
): readonly [string, string] {
  return [probe, JSON.stringify(errorResult(code, why, atMs))];
}

/** Removes what a refused check left. Where Redis does not take that either, the sweep does it at the deadline. */
async function takeBack(
  redis: Redis,
  queues: JobQueues,
  id: string,
  probes: readonly string[],
  photographers: readonly string[],
): Promise<void> {
  await Promise.allSettled([
    ...probes.map((probe) => queues.removeWaiting(redis, probe, id)),
    ...photographers.map((probe) => queues.removeWaiting(redis, probe, screenshotJobId(id))),
    removeCheck(redis, id),
  ]);
}

/** An order among equals that differs from check to check, so that idle probes take turns. */
function randomTieBreak(): (probe: string) => number {
  const drawn = new Map<string, number>();
  return (probe) => {
    const value = drawn.get(probe) ?? Math.random();
    drawn.set(probe, value);
    return value;
  };
}
