import { publicRequest, redisKeys, screenshotJobId, type FailureCode, type Job } from '@vantage/contract';
import { within } from '@vantage/timers';
import type { Redis } from 'ioredis';

import type { ProbeDirectory } from '../../probes/registry/probe-directory.ts';
import type { RedisClock } from '../../redis/clock.ts';
import type { ReplicaWait } from '../../redis/server-state/replica-wait.ts';
import { StoreUnavailable } from '../../redis/store-errors.ts';
import { isStoreFault, storeUnavailable } from '../../redis/store.ts';
import type { AcceptedRequest } from '../checks.ts';
import { screenshotJob } from '../screenshots/screenshot-jobs.ts';
import type { CheckScreenshots } from '../screenshots/screenshots.ts';
import { removeCheck, type Absent } from '../store/records/check-records.ts';
import { writeFinals } from '../store/records/write-results.ts';
import type { NewScreenshot } from '../store/records/new-check.ts';
import type { Counters } from '../store/counters.ts';
import type { Deadlines } from '../store/deadlines.ts';
import type { JobQueues } from '../store/job-queues.ts';
import { dispatchFailure, errorResult } from '../store/synthetic-results.ts';
import { ClockSteppedBack, NotGranted, type NewJob, type StartCheck } from './enqueue-check.ts';
import type { ProbeCapacity } from './probe-capacity.ts';

export interface StartDependencies {
  readonly redis: Redis;
  readonly clock: RedisClock;
  readonly directory: Pick<ProbeDirectory, 'noteActive'>;
  readonly startCheck: StartCheck;
  readonly queues: Pick<JobQueues, 'removeWaiting'>;
  readonly deadlines: Deadlines;
  readonly load: Pick<ProbeCapacity, 'added' | 'removed'>;
  readonly replicas: ReplicaWait;
  readonly screenshots: Pick<CheckScreenshots, 'passOn'>;
  readonly retentionMs: number;
  /** Time that a pending screenshot adds to the deadline of its check. */
  readonly screenshotBudgetMs: number;
  readonly counters: Counters;
}

/**
 * Longest wait for the rollback of a check that could not be started. If Redis is unavailable, expiry completes the
 * check at its deadline, and retention removes it.
 */
const TAKE_BACK_MS = 200;

/** Maximum attempts to start a check: each time that the clock of Redis was stepped back makes another necessary. */
const MOST_STARTS = 3;

const BROKEN_QUEUE = 'The queue of the probe is broken.';
const FULL_QUEUE = 'The probe had as many checks of this type to do as it could end on time.';

/** The probes selected for a check, and its other properties that are fixed before it starts. */
export interface Chosen {
  readonly probes: readonly string[];
  readonly emptyLocations?: readonly string[] | undefined;
  /** Probes that are offline or shutting down, each with the reason as a sentence. */
  readonly offline: ReadonlyMap<string, string>;
  /** Probes whose capacity is used up. */
  readonly busy: readonly string[];
  readonly atGateways: readonly string[];
  readonly screenshot: NewScreenshot | undefined;
  readonly client: string | undefined;
  readonly first: string | undefined;
  readonly grant?: string | undefined;
  /** True if another coordinator may have started the check. */
  readonly once: boolean;
}

/**
 * Starts the check. If the clock of Redis was stepped back since it was last read, starts it again with the new time.
 */
export async function startInTime(
  dependencies: StartDependencies,
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
      // Reads the new time. `due` also moves the deadlines of pending checks; this check has none yet.
      const { nowMs } = await deadlines.due(0);
      clock.observe(nowMs, sentAt);
    }
  }
  throw new StoreUnavailable('The clock of Redis cannot be followed');
}

async function start(
  dependencies: StartDependencies,
  id: string,
  createdAt: number,
  { checkType, submittedHost, params, between, hosts }: AcceptedRequest,
  chosen: Chosen,
): Promise<void> {
  const { redis, startCheck, queues, deadlines, load, replicas, screenshots, counters, directory } = dependencies;
  const { retentionMs, screenshotBudgetMs } = dependencies;
  const { probes, offline, busy, screenshot } = chosen;
  const type = checkType.type;
  const ofResults = createdAt + Math.ceil(checkType.budgetMs(params));
  // Only the check waits for its screenshot; the jobs of the probes get the earlier deadline.
  const deadlineAt = ofResults + (screenshot?.state === 'pending' ? screenshotBudgetMs : 0);
  const request = JSON.stringify(publicRequest(checkType, { ...params }));
  const absent = absentOf(chosen);
  const record = { id, type, host: submittedHost, between, request, createdAt, deadlineAt, absent, ...chosen };
  const jobOf = jobsOf({ v: 1, checkId: id, type, params, deadlineAt: ofResults }, checkType, hosts);
  const online = probes.filter((probe) => !offline.has(probe) && !busy.includes(probe));
  load.added(id, online, type, deadlineAt - createdAt);
  directory.noteActive(online, deadlineAt - createdAt);
  const jobs = newJobs(id, online, jobOf, screenshot?.state === 'pending' ? { ...screenshot, deadlineAt } : undefined);
  const server = replicas.server();
  let isNew = true;
  try {
    const started = await startCheck(record, jobs);
    isNew = started.isNew;
    const refusals = started.jobs.flatMap((outcome, index) =>
      outcome.status === 'rejected' ? [{ ...jobs[index]!, error: outcome.reason as unknown }] : [],
    );
    const fault = refusals.find(({ error }) => isStoreFault(error));
    if (fault !== undefined) throw fault.error;
    // Each remaining failure concerns the keys of one probe, which its agent may have corrupted: only its result fails.
    const failed = refusals
      .filter((refusal) => refusal.id === id)
      .map(({ probe }) => without(probe, 'internal_error', BROKEN_QUEUE, createdAt));
    // Probes of a check that was started before may have got a job then.
    const withoutJob = isNew ? Object.entries(absent) : [];
    const settled = [...failed, ...withoutJob.map(([probe, [code, why]]) => without(probe, code, why, createdAt))];
    if (settled.length > 0) await writeFinals(redis, id, settled, { retentionMs, deadlines });
    counters.probesOffline += isNew ? offline.size : 0;
    counters.probesBusy += isNew ? busy.length : 0;
    await replicas.settled([redisKeys.deadlines, redisKeys.check(id)], server);
    if (screenshot?.state === 'pending' && refusals.some((refusal) => refusal.id !== id)) {
      await screenshots.passOn(id, screenshot.probe, dispatchFailure('internal_error', BROKEN_QUEUE));
    }
  } catch (error) {
    load.removed(id);
    if (error instanceof ClockSteppedBack || error instanceof NotGranted) throw error;
    const screenshotProbes = screenshot?.state === 'pending' ? [screenshot.probe] : [];
    // A check that was there runs for the coordinator that started it.
    if (isNew) await within(takeBack(redis, queues, id, online, screenshotProbes), TAKE_BACK_MS);
    throw storeUnavailable('The check could not be enqueued', error);
  }
}

function absentOf({ offline, busy }: Chosen): Absent {
  return Object.fromEntries([
    ...[...offline].map(([probe, why]) => [probe, ['probe_offline', why]] as const),
    ...busy.map((probe) => [probe, ['probe_busy', FULL_QUEUE]] as const),
  ]);
}

/** Puts the screenshot last, so that its probe gets it after its job of the check. */
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

/** Returns a function that makes a probe's job: the same object for all probes, unless they measure different hosts. */
function jobsOf(
  job: Job,
  checkType: AcceptedRequest['checkType'],
  hosts: AcceptedRequest['hosts'],
): (probe: string) => Job {
  const params = checkType.jobParams?.(job.params as never) ?? job.params;
  const common = { ...job, params };
  return (probe) => (hosts === undefined ? common : { ...common, params: { ...params, host: hosts.get(probe) } });
}

function without(probe: string, code: FailureCode, why: string, atMs: number): readonly [string, string] {
  return [probe, JSON.stringify(errorResult(code, why, atMs))];
}

/**
 * Removes a check that could not be started, and its waiting jobs. If that fails too, expiry completes the check at its
 * deadline, and retention removes it.
 */
async function takeBack(
  redis: Redis,
  queues: Pick<JobQueues, 'removeWaiting'>,
  id: string,
  probes: readonly string[],
  screenshotProbes: readonly string[],
): Promise<void> {
  await Promise.allSettled([
    queues.removeWaiting(redis, probes, id),
    queues.removeWaiting(redis, screenshotProbes, screenshotJobId(id)),
    removeCheck(redis, id),
  ]);
}
