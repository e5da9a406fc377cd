import { createHash, randomFillSync } from 'node:crypto';

import { publicRequest, redisKeys, screenshotJobId, type Job } from '@vantage/contract';
import { isCluster } from '@vantage/redis-connections';
import type { Tracing } from '@vantage/telemetry';
import { within } from '@vantage/timers';
import type { Redis } from 'ioredis';

import { NO_ACCESS } from '../../probes/enrolment/agent-access.ts';
import type { ProbeDirectory } from '../../probes/registry/probe-directory.ts';
import type { KnownProbe } from '../../probes/registry/probe-status.ts';
import { createProbeSelector, type ProbeSelector, type Selection } from '../../probes/selection/select-probes.ts';
import type { RedisClock } from '../../redis/clock.ts';
import type { ReplicaWait } from '../../redis/server-state/replica-wait.ts';
import { isStoreFault, onStore, storeUnavailable } from '../../redis/store.ts';
import type { WriteWatch } from '../../redis/server-state/write-watch.ts';
import type { CheckTypes } from '../store/check-type-cache.ts';
import { removeCheck, settle, type NewScreenshot } from '../store/check-records.ts';
import type { CheckMetrics } from '../check-metrics.ts';
import type { AcceptedRequest, AdmitCheck, Checks, Creation } from '../checks.ts';
import { QueuesFull, RecordsLost, StoreUnavailable } from '../../redis/store-errors.ts';
import { dispatchFailure, errorResult } from '../store/synthetic-results.ts';
import type { Counters } from '../store/counters.ts';
import type { Deadlines } from '../store/deadlines.ts';
import type { JobQueues } from '../store/job-queues.ts';
import type { ProbeCapacity } from './probe-capacity.ts';
import { screenshotJob, type CheckScreenshots } from '../screenshots/screenshots.ts';
import { ClockSteppedBack, NotGranted, type NewJob, type StartCheck } from './enqueue-check.ts';

export interface CreateCheckDependencies {
  readonly redis: Redis;
  readonly clock: RedisClock;
  readonly directory: Pick<ProbeDirectory, 'probes' | 'isEmptied' | 'noteActive'>;
  readonly startCheck: StartCheck;
  readonly queues: Pick<JobQueues, 'removeWaiting'>;
  readonly types: CheckTypes;
  readonly deadlines: Deadlines;
  readonly load: ProbeCapacity;
  readonly replicas: ReplicaWait;
  readonly writes: Pick<WriteWatch, 'requireWrites'>;
  readonly screenshots: Pick<CheckScreenshots, 'plan' | 'passOn'>;
  readonly retentionMs: number;
  /** Extra time of a check with a screenshot. */
  readonly screenshotBudgetMs: number;
  readonly counters: Counters;
  readonly tracing: Tracing;
  readonly metrics?: Pick<CheckMetrics, 'created'> | undefined;
}

/**
 * Longest wait for the rollback of a refused check. If Redis is unavailable, expiry completes the check at its deadline,
 * and retention removes it.
 */
const TAKE_BACK_MS = 200;

/** Maximum attempts to start a check: a step of the clock of Redis during one makes another necessary. */
const MOST_STARTS = 3;

const BROKEN_QUEUE = 'The queue of the probe is broken.';

/** Creates checks. A check is accepted only after Redis has confirmed every write. */
export function createChecks(dependencies: CreateCheckDependencies): Checks['create'] {
  const { redis, tracing, metrics } = dependencies;
  const selector = createProbeSelector();
  return (request, admit, client, id, first) => {
    const { type } = request.checkType;
    return tracing.around('create check', { attributes: { 'vantage.check.type': type } }, async (span) => {
      const startedAt = performance.now();
      const creation = await onStore(redis, () =>
        createCheck({ ...dependencies, selector }, request, { admit, client, id, first }),
      );
      if (!creation.created) return creation;
      span.set({ 'vantage.check.id': creation.checkId, 'vantage.check.probes': creation.probes.length });
      metrics?.created(type, creation.probes.length, performance.now() - startedAt);
      return creation;
    });
  };
}

type WithSelector = CreateCheckDependencies & { readonly selector: ProbeSelector };

interface Asked {
  readonly admit: AdmitCheck | undefined;
  readonly client: string | undefined;
  readonly id: string | undefined;
  readonly first: string | undefined;
}

async function createCheck(
  dependencies: WithSelector,
  request: AcceptedRequest,
  { admit, client, id: givenId, first }: Asked,
): Promise<Creation> {
  const { directory, types, counters, screenshots, writes } = dependencies;
  // A Redis that refuses writes refuses heartbeats too, so that every probe looks offline: this is no fault of the request.
  writes.requireWrites();
  const known = await directory.probes();
  // Checked before the names of probes: a name may be unknown only because its record was lost.
  if (directory.isEmptied()) throw new RecordsLost('Redis has the record of no probe any more.');
  const selection = selectWithCapacity(dependencies, known, request);
  if (!selection.selected) {
    counters.checksRefused += 1;
    const { selected: _, ...refusal } = selection;
    return { created: false, ...refusal };
  }
  const id = givenId ?? drawId();
  types.remember(id, request.checkType);
  const selected = dependencies.selector.find(known, selection.probes);
  const wanted = request.checkType.screenshot?.(request.params);
  const screenshot = wanted === undefined ? undefined : screenshots.plan(wanted, selected, selection.probes);
  const once = givenId !== undefined;
  const atGateways = selected.filter(mayBeAtGateway).map(({ record }) => record.id);
  const chosen = { ...selection, atGateways, screenshot, client, first, once };
  const startNow = (grant?: string): Promise<void> => startInTime(dependencies, id, request, { ...chosen, grant });
  if (!(await admitAndStart(dependencies.redis, id, admit, chosen.probes.length, startNow))) {
    return { created: false, reason: 'not-admitted' };
  }
  counters.checksCreated += 1;
  return { created: true, checkId: id, probes: [...selection.probes] };
}

/**
 * Starts a check that is admitted. On one server the check is sent along with its count: the server runs them in this
 * order, and starts nothing that it has not admitted.
 *
 * @returns false if it is not admitted
 */
async function admitAndStart(
  redis: Redis,
  id: string,
  admit: AdmitCheck | undefined,
  probes: number,
  start: (grant?: string) => Promise<void>,
): Promise<boolean> {
  const early: { started?: Promise<boolean> } = {};
  const grant = redisKeys.checkGrant(id);
  const onLikely = (): void => {
    early.started = start(grant).then(
      () => true,
      (error: unknown) => (error instanceof NotGranted ? false : Promise.reject(error as Error)),
    );
    // Awaited below, unless the check is not admitted.
    early.started.catch(() => undefined);
  };
  if (admit !== undefined && !(await admit(probes, isCluster(redis) ? undefined : { grant, onLikely }))) return false;
  // Redis has written no grant if the request was counted in memory, because Redis was slow or had lost the script that counts.
  if ((await early.started) !== true) await start();
  return true;
}

/**
 * Selects among probes with capacity, unless the client named probes: then each of them must have capacity.
 *
 * @throws QueuesFull
 */
function selectWithCapacity(
  { load, counters, selector }: WithSelector,
  known: readonly KnownProbe[],
  { checkType: { type }, limit, probes, locations, steadyBy }: AcceptedRequest,
): Selection {
  // Equally good probes are ordered at random per check, so that idle ones take turns.
  const order =
    steadyBy === undefined ? { tieBreak: 'random' as const } : { tieBreak: rankBy(steadyBy), ignoresLoad: true };
  const asked = { type, limit, probes, locations, ...order };
  const selection = selector.select(known, asked);
  if (!selection.selected) return selection;
  const isFull = selector
    .find(known, selection.probes)
    .some((probe) => !selection.offline.has(probe.record.id) && !load.hasCapacity(probe, type));
  if (!isFull) return selection;
  const others =
    probes === undefined
      ? selector.select(known, { ...asked, isEligible: (probe) => load.hasCapacity(probe, type) })
      : ({ selected: false } as const);
  if (others.selected) return others;
  counters.checksRefused += 1;
  throw new QueuesFull(`The probes have as many ${type} checks to do as they can end on time.`);
}

/** Returns an order of probes that depends on the text only. */
function rankBy(text: string): (probe: string) => number {
  return (probe) => createHash('sha256').update(`${text}\n${probe}`).digest().readUInt32BE();
}

interface Chosen {
  readonly probes: readonly string[];
  /** Probes that cannot take a job now, each with the reason as a sentence. */
  readonly offline: ReadonlyMap<string, string>;
  readonly atGateways: readonly string[];
  readonly screenshot: NewScreenshot | undefined;
  readonly client: string | undefined;
  readonly first: string | undefined;
  readonly grant?: string | undefined;
  /** True if another coordinator may have started the check. */
  readonly once: boolean;
}

/** False only for a probe without an enrolled key whose heartbeat its agent writes itself. */
function mayBeAtGateway({ heartbeat, access = NO_ACCESS }: KnownProbe): boolean {
  return heartbeat === undefined || heartbeat.gateway !== undefined || access.state !== 'none';
}

/** Starts the check; again with the new time if the clock of Redis was stepped back since it was last read. */
async function startInTime(
  dependencies: WithSelector,
  id: string,
  request: AcceptedRequest,
  chosen: Chosen,
): Promise<void> {
  const { redis, clock, deadlines } = dependencies;
  for (let left = MOST_STARTS; left > 0; left -= 1) {
    try {
      return await start(dependencies, id, await clock.now(redis), request, chosen);
    } catch (error) {
      if (!(error instanceof ClockSteppedBack)) throw error;
      const sentAt = performance.now();
      // `due` moves the deadlines of pending checks after the clock was stepped back; this check has no deadline yet.
      const { nowMs } = await deadlines.due(0);
      clock.observe(nowMs, sentAt);
    }
  }
  throw new StoreUnavailable('The clock of Redis cannot be followed');
}

async function start(
  dependencies: CreateCheckDependencies,
  id: string,
  createdAt: number,
  { checkType, submittedHost, params, between, hosts }: AcceptedRequest,
  chosen: Chosen,
): Promise<void> {
  const { redis, startCheck, queues, deadlines, load, replicas, screenshots, counters, directory } = dependencies;
  const { retentionMs, screenshotBudgetMs } = dependencies;
  const { probes, offline, screenshot } = chosen;
  const type = checkType.type;
  const ofResults = createdAt + Math.ceil(checkType.budgetMs(params));
  // Only the check waits for its screenshot; the results keep their deadline.
  const deadlineAt = ofResults + (screenshot?.state === 'pending' ? screenshotBudgetMs : 0);
  const request = JSON.stringify(publicRequest(checkType, { ...params }));
  const record = { id, type, host: submittedHost, between, request, createdAt, deadlineAt, ...chosen };
  const jobOf = jobsOf({ v: 1, checkId: id, type, params, deadlineAt: ofResults }, checkType, hosts);
  const online = probes.filter((probe) => !offline.has(probe));
  load.added(id, online, type, deadlineAt - createdAt);
  directory.noteActive(online, deadlineAt - createdAt);
  const jobs = newJobs(id, online, jobOf, screenshot?.state === 'pending' ? { ...screenshot, deadlineAt } : undefined);
  const server = replicas.server();
  try {
    const added = await startCheck(record, jobs);
    const refusals = added.flatMap((outcome, index) =>
      outcome.status === 'rejected' ? [{ ...jobs[index]!, error: outcome.reason as unknown }] : [],
    );
    const fault = refusals.find(({ error }) => isStoreFault(error));
    if (fault !== undefined) throw fault.error;
    // Each remaining failure concerns the keys of one probe, which its agent may have corrupted: only its result fails.
    const failed = refusals
      .filter((refusal) => refusal.id === id)
      .map(({ probe }) => without(probe, 'internal_error', BROKEN_QUEUE, createdAt));
    const absent = [...offline].map(([probe, why]) => without(probe, 'probe_offline', why, createdAt));
    if (failed.length + absent.length > 0) {
      await settle(redis, id, [...failed, ...absent], { retentionMs, deadlines });
    }
    counters.probesOffline += absent.length;
    await replicas.settled([redisKeys.deadlines, redisKeys.check(id)], server);
    if (screenshot?.state === 'pending' && refusals.some((refusal) => refusal.id !== id)) {
      await screenshots.passOn(id, screenshot.probe, dispatchFailure('internal_error', BROKEN_QUEUE));
    }
  } catch (error) {
    load.removed(id);
    if (error instanceof ClockSteppedBack || error instanceof NotGranted) throw error;
    const photographers = screenshot?.state === 'pending' ? [screenshot.probe] : [];
    await within(takeBack(redis, queues, id, online, photographers), TAKE_BACK_MS);
    throw storeUnavailable('The check could not be enqueued', error);
  }
}

/** The screenshot last: it is queued after the results' own jobs at the probe. */
function newJobs(
  id: string,
  online: readonly string[],
  jobOf: (probe: string) => Job,
  screenshot: (NewScreenshot & { readonly state: 'pending'; readonly deadlineAt: number }) | undefined,
): readonly NewJob[] {
  const jobs = online.map((probe) => ({ probe, id, job: jobOf(probe) }));
  if (screenshot === undefined) return jobs;
  const { probe, params, deadlineAt } = screenshot;
  return [...jobs, { probe, id: screenshotJobId(id), job: screenshotJob(id, params, deadlineAt) }];
}

/** The job of each probe: one object for all of them, unless they measure different hosts. */
function jobsOf(
  job: Job,
  checkType: AcceptedRequest['checkType'],
  hosts: AcceptedRequest['hosts'],
): (probe: string) => Job {
  const params = checkType.jobParams?.(job.params as never) ?? job.params;
  const common = { ...job, params };
  return (probe) => (hosts === undefined ? common : { ...common, params: { ...params, host: hosts.get(probe) } });
}

function without(
  probe: string,
  code: 'internal_error' | 'probe_offline',
  why: string,
  atMs: number,
): readonly [string, string] {
  return [probe, JSON.stringify(errorResult(code, why, atMs))];
}

const ID_BYTES = 16;
/** Random bytes for many ids at once: each call of the system's generator is expensive. */
const drawn = Buffer.alloc(64 * ID_BYTES);
let usedTo = drawn.length;

/** Draws a random id, which does not begin with `-`: programs would take it for a flag. */
export function drawId(): string {
  const id = drawText();
  return id.startsWith('-') ? drawId() : id;
}

function drawText(): string {
  if (usedTo === drawn.length) {
    randomFillSync(drawn);
    usedTo = 0;
  }
  const from = usedTo;
  usedTo += ID_BYTES;
  return drawn.toString('base64url', from, usedTo);
}

/** Removes a refused check. If that fails too, expiry completes it at its deadline, and retention removes it. */
async function takeBack(
  redis: Redis,
  queues: Pick<JobQueues, 'removeWaiting'>,
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
